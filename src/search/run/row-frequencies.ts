import { Injectable, Logger } from '@nestjs/common';
import { Ambient } from '../../platform/ambient';
import { type Statement } from '../../platform/database/statement';
import { Statements } from '../../platform/database/statements';
import { type CountedTable, type Frequencies } from '../compile/estimate';

/** Time until the counts are loaded again. They change when PostgreSQL analyzes a table, every few minutes at most. */
const LIFETIME_MILLISECONDS = 120_000;

const READ: Statement = {
  name: 'search-row-frequencies',
  text: `select s.tablename as table, s.most_common_vals::text::text[] as values,
      s.most_common_freqs::double precision[]::text[] as shares, greatest(c.reltuples, 0)::double precision as rows
    from pg_stats s join pg_class c on c.oid = (quote_ident(s.schemaname) || '.' || quote_ident(s.tablename))::regclass
    where s.schemaname = current_schema() and s.most_common_vals is not null
      and (s.tablename, s.attname) in
        (('search_token', 'token_hash'), ('reference_link', 'target_hash'), ('search_number', 'code_hash'), ('resource', 'type'))`,
};

interface Row {
  readonly table: CountedTable;
  readonly values: readonly string[];
  readonly shares: readonly string[];
  readonly rows: number;
}

/**
 * Row counts of frequent tokens, reference targets, codes and types, from the statistics of PostgreSQL. They only
 * decide which clause of a search is read first, so they may be outdated, and no search waits for them.
 */
@Injectable()
export class RowFrequencies implements Frequencies {
  private readonly logger = new Logger(RowFrequencies.name);
  private counts: ReadonlyMap<string, number> = new Map();
  private loadedAt = -Infinity;

  constructor(private readonly statements: Statements) {}

  of(table: CountedTable, value: number | string): number | undefined {
    return this.counts.get(`${table} ${value}`);
  }

  /** Loads the counts again in the background, if they are outdated. */
  refresh(): void {
    if (performance.now() - this.loadedAt < LIFETIME_MILLISECONDS) return;
    this.loadedAt = performance.now();
    Ambient.outside(() => {
      this.load().catch((error: unknown) => {
        this.logger.warn(`Statistics could not be read: ${error instanceof Error ? error.name : 'unknown error'}`);
      });
    });
  }

  async load(): Promise<void> {
    const rows = await this.statements.run<Row>(READ, []);
    this.counts = new Map(
      rows.flatMap(({ table, values, shares, rows: all }) =>
        values.map((value, index) => [`${table} ${value}`, Number(shares[index]) * all] as const),
      ),
    );
  }
}
