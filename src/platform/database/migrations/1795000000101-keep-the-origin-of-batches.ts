import { type Migration } from '../migration';

/**
 * What a batch is rendered with beside its events, fixed when it is opened, so that each retry and each replay has the
 * same bytes: JSON. Null for batches that a server of 240c7c3 has opened.
 */
export const keepTheOriginOfBatches: Migration = {
  name: 'KeepTheOriginOfBatches1795000000101',
  statements: [
    'alter table open_batch add column origin jsonb',
    'alter table delivery_attempt add column origin jsonb',
    'alter table outbox_event add column replayed_origin jsonb',
  ],
};
