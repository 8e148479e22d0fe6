import { type Migration } from '../migration';

/**
 * An index of the versions of a type, or of the whole server, by time. The table `resource` has such an index from the
 * beginning. One index by type serves both purposes, so a create costs nothing more, and an update writes one narrow
 * entry (docs/performance.md).
 */
export const indexHistoryByTime: Migration = {
  name: 'IndexHistoryByTime1795000000005',
  statements: [
    'create index if not exists resource_history_updated_at_idx on resource_history (type, updated_at desc)',
    // A total is counted without reading the table only for pages that vacuum has visited. So vacuum should visit new
    // pages soon.
    'alter table resource_history set (autovacuum_vacuum_insert_scale_factor = 0.05)',
  ],
};
