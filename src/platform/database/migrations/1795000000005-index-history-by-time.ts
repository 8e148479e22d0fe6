import { type Migration } from '../migration';

/**
 * The versions of a type, and of the server, by time: `resource` has such an index since it exists. One index by type
 * serves both, so that a create pays nothing more and an update one narrow entry (docs/performance.md).
 */
export const indexHistoryByTime: Migration = {
  name: 'IndexHistoryByTime1795000000005',
  statements: [
    'create index if not exists resource_history_updated_at_idx on resource_history (type, updated_at desc)',
    // Totals are counted in the index alone where vacuum has seen the pages: it should see new ones soon.
    'alter table resource_history set (autovacuum_vacuum_insert_scale_factor = 0.05)',
  ],
};
