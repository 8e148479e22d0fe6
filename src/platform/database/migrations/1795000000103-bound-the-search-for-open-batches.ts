import { type Migration } from '../migration';

/**
 * Open batches by destination and epoch, and the epoch of the latest settlement: an open batch has a later one. A batch
 * that is open during the upgrade has epoch 0.
 */
export const boundTheSearchForOpenBatches: Migration = {
  name: 'BoundTheSearchForOpenBatches1795000000103',
  statements: [
    'alter table destination_runtime add column settled_epoch bigint not null default -1',
    'alter table open_batch add column epoch bigint not null default 0',
    'alter table open_batch drop constraint open_batch_pk',
    'alter table open_batch add constraint open_batch_pk primary key (destination_key, epoch)',
  ],
};
