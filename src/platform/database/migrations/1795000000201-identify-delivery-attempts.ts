import { type Migration } from '../migration';

/**
 * With a publication of all tables, PostgreSQL deletes only rows that subscribers can identify. Partitions of days need
 * no identity, since they are dropped as a whole. Rows are deleted only from the default partition, which is nearly
 * always empty.
 */
export const identifyDeliveryAttempts: Migration = {
  name: 'IdentifyDeliveryAttempts1795000000201',
  statements: ['alter table delivery_attempt_other replica identity full'],
};
