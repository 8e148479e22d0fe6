import { Injectable } from '@nestjs/common';
import { family, type MetricFamily } from '../metrics/metric-family';
import { MetricsFrom, type MetricSource } from '../metrics/metric-source';
import { type Statement } from './statement';
import { Statements } from './statements';

/** SQL of the statistics by table. A partition counts as part of its table. */
const BY_TABLE = `from pg_stat_user_tables s
  left join pg_inherits i on i.inhrelid = s.relid
  join pg_class t on t.oid = coalesce(i.inhparent, s.relid)
  where s.schemaname = current_schema() group by t.relname order by t.relname`;

const ROWS: Statement = {
  name: 'metrics-rows',
  text: `select t.relname as "table", sum(s.n_live_tup)::float8 as live, sum(s.n_dead_tup)::float8 as dead ${BY_TABLE}`,
};

const SIZES: Statement = {
  name: 'metrics-sizes',
  text: `select t.relname as "table", sum(pg_total_relation_size(s.relid))::float8 as bytes ${BY_TABLE}`,
};

/** Row counts as estimated by PostgreSQL's statistics, so no rows are counted. */
@Injectable()
@MetricsFrom({ source: 'rows', path: '/metrics/minutes', of: 'cluster' })
export class RowMetrics implements MetricSource {
  constructor(private readonly statements: Statements) {}

  async read(): Promise<readonly MetricFamily[]> {
    const rows = await this.statements.run<{ table: string; live: number; dead: number }>(ROWS, []);
    const samples = rows.flatMap(({ table, live, dead }) => [
      { labels: { table, state: 'live' }, value: live },
      { labels: { table, state: 'dead' }, value: dead },
    ]);
    return [family('gauge', 'svc_table_rows', 'Rows by estimate; those that are dead wait for autovacuum.', samples)];
  }
}

@Injectable()
@MetricsFrom({ source: 'sizes', path: '/metrics/hours', of: 'cluster' })
export class SizeMetrics implements MetricSource {
  constructor(private readonly statements: Statements) {}

  async read(): Promise<readonly MetricFamily[]> {
    const rows = await this.statements.run<{ table: string; bytes: number }>(SIZES, []);
    const samples = rows.map(({ table, bytes }) => ({ labels: { table }, value: bytes }));
    return [family('gauge', 'svc_table_size_bytes', 'Bytes on disk, indexes included.', samples)];
  }
}
