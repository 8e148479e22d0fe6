import { type Migration } from '../migration';

/**
 * The values, as JSON, that a batch is rendered with in addition to its events. They are fixed when the batch is
 * opened, so that each retry and each replay sends the same bytes. Null for batches that a server of commit 240c7c3
 * opened.
 */
export const keepTheOriginOfBatches: Migration = {
  name: 'KeepTheOriginOfBatches1795000000101',
  statements: [
    'alter table open_batch add column origin jsonb',
    'alter table delivery_attempt add column origin jsonb',
    'alter table outbox_event add column replayed_origin jsonb',
  ],
};
