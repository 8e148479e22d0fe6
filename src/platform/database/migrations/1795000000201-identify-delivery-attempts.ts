import { type Migration } from '../migration';

/**
 * Under a publication of all tables, PostgreSQL deletes only rows that subscribers can tell apart. The partitions of days
 * are dropped as a whole; from the default one, which is nearly always empty, rows are deleted.
 */
export const identifyDeliveryAttempts: Migration = {
  name: 'IdentifyDeliveryAttempts1795000000201',
  statements: ['alter table delivery_attempt_other replica identity full'],
};
