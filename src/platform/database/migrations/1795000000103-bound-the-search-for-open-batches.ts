import { type Migration } from '../migration';

/**
 * The key of open batches by destination and epoch, a counter that each claim of the destination raises.
 * `settled_epoch` is the epoch of the latest batch that was settled, so an open batch has a later one. A batch that is
 * open during the upgrade has epoch 0.
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
