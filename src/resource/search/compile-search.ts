import { createHash } from 'node:crypto';
import { type Statement } from '../../platform/database/statement';
import { type SearchClause, type SearchQuery } from './search-query';

export interface CompiledSearch {
  readonly statement: Statement;
  readonly values: readonly unknown[];
}

const ORDER = 'order by main_date desc, resource_key desc';

/**
 * The statement that finds one page (and one row more, which tells that a next page exists).
 *
 * The SQL leaves the planner no choice, since it runs with generic plans: one clause drives in index order, the others
 * are probed by exact key in nested loops (`lateral … limit 1`). EXISTS or IN would be hashed: a thousand times slower.
 */
export function compilePage(query: SearchQuery): CompiledSearch {
  const bind = new Binder();
  const page = matches(query, bind, query.count + 1);
  return bind.finish(`with page as materialized (${page})
select p.main_date, p.resource_key, r.type, r.id, r.body
from page p cross join lateral (select * from resource b where b.resource_key = p.resource_key limit 1) r
order by p.main_date desc, p.resource_key desc`);
}

/** The statement that counts all matches, of whatever page. */
export function compileTotal({ type, clauses }: SearchQuery): CompiledSearch {
  const bind = new Binder();
  return bind.finish(`select count(*) as total from (${matches({ type, clauses }, bind)}) m`);
}

type Matches = Pick<SearchQuery, 'type' | 'clauses' | 'after'>;

/** Distinct (main_date, resource_key) of all matches; with `limit` in page order. */
function matches(query: Matches, bind: Binder, limit?: number): string {
  const [driver, ...others] = inDrivingOrder(query.clauses);
  const conditions = new Conditions(bind, query.after, limit, others);
  if (driver === undefined || driver.kind === 'updated') return walkType(query.type, driver, bind, conditions);
  switch (driver.kind) {
    case 'id':
      return `select c.main_date, c.resource_key from resource c ${conditions.probes}
where c.type = ${bind.value(query.type)} and c.id = any(${bind.value(driver.ids)}) ${conditions.keyset} ${conditions.page}`;
    case 'token':
      return perAlternative(tokenAlternatives(driver, bind), 'search_token c', conditions);
    case 'reference':
      return perAlternative(referenceAlternatives(driver, bind), 'reference_link c', conditions);
  }
}

/** The rarest kind first: an id is one row, a reference a chart, a token anything. */
const RARITY: Readonly<Record<SearchClause['kind'], number>> = { id: 0, reference: 1, token: 2, updated: 3 };

const inDrivingOrder = (clauses: readonly SearchClause[]): SearchClause[] =>
  [...clauses].sort((a, b) => RARITY[a.kind] - RARITY[b.kind]);

/** Walks all of a type; with a time of update that index collects and the page is sorted. */
function walkType(
  type: string,
  updated: (SearchClause & { kind: 'updated' }) | undefined,
  bind: Binder,
  conditions: Conditions,
): string {
  const place = bind.value(type);
  const filter = updated === undefined ? '' : `and ${updatedFilter('c', updated, bind)}`;
  const source = `(select main_date, resource_key, updated_at from resource c where c.type = ${place} ${filter} ${updated === undefined ? '' : 'offset 0'}) c`;
  return `select c.main_date, c.resource_key from ${source} ${conditions.probes} where true ${conditions.keyset} ${conditions.page}`;
}

interface Alternatives {
  /** `unnest(…) z(…)` */
  readonly source: string;
  /** Equality of a row with the alternative `z`. */
  readonly equals: (row: string) => string;
}

/** Each alternative is read in index order up to the limit: an IN list over an ordered index would lose the order. */
function perAlternative({ source, equals }: Alternatives, table: string, conditions: Conditions): string {
  return `select distinct a.main_date, a.resource_key from ${source} cross join lateral (
select c.main_date, c.resource_key from ${table} ${conditions.probes} where ${equals('c')} ${conditions.keyset} ${conditions.page}) a ${conditions.outerPage}`;
}

function tokenAlternatives({ tokens }: SearchClause & { kind: 'token' }, bind: Binder): Alternatives {
  const hashes = bind.value(tokens.map(({ hash }) => hash));
  const systems = bind.value(tokens.map(({ systemHash }) => systemHash ?? null));
  return {
    source: `unnest(${hashes}::bigint[], ${systems}::integer[]) z(hash, system_hash)`,
    equals: (row) => `${row}.token_hash = z.hash and (z.system_hash is null or ${row}.system_hash = z.system_hash)`,
  };
}

function referenceAlternatives({ links }: SearchClause & { kind: 'reference' }, bind: Binder): Alternatives {
  const targets = bind.value(links.map(({ targetHash }) => targetHash));
  const parameters = bind.value(links.map(({ parameterId }) => parameterId));
  return {
    source: `unnest(${targets}::bigint[], ${parameters}::integer[]) z(hash, parameter_id)`,
    equals: (row) => `${row}.target_hash = z.hash and ${row}.parameter_id = z.parameter_id`,
  };
}

function updatedFilter(row: string, { ranges }: SearchClause & { kind: 'updated' }, bind: Binder): string {
  const alternatives = ranges.map(({ low, high }) => {
    const limits = [
      ...(low === -Infinity ? [] : [`${row}.updated_at >= ${bind.value(new Date(low))}`]),
      ...(high === Infinity ? [] : [`${row}.updated_at <= ${bind.value(new Date(high))}`]),
    ];
    return limits.length === 0 ? 'true' : limits.join(' and ');
  });
  return `(${alternatives.map((alternative) => `(${alternative})`).join(' or ')})`;
}

/** What every candidate row `c` must hold besides the driving clause. */
class Conditions {
  readonly keyset: string;
  readonly page: string;
  readonly outerPage: string;
  readonly probes: string;

  constructor(bind: Binder, after: SearchQuery['after'], limit: number | undefined, clauses: readonly SearchClause[]) {
    this.probes = clauses.map((clause, index) => probe(clause, `probe${index}`, bind)).join('\n');
    this.keyset =
      after === undefined
        ? ''
        : `and (c.main_date, c.resource_key) < (${bind.value(new Date(after.mainDate).toISOString())}::timestamptz, ${bind.value(after.key)}::bigint)`;
    const limited = limit === undefined ? '' : `limit ${bind.value(limit)}`;
    this.page = limit === undefined ? '' : `order by c.main_date desc, c.resource_key desc ${limited}`;
    this.outerPage = limit === undefined ? '' : `${ORDER} ${limited}`;
  }
}

function probe(clause: SearchClause, alias: string, bind: Binder): string {
  switch (clause.kind) {
    case 'id':
      return lateral(
        alias,
        `resource p where p.resource_key = c.resource_key and p.id = any(${bind.value(clause.ids)})`,
      );
    case 'updated':
      return lateral(alias, `resource p where p.resource_key = c.resource_key and ${updatedFilter('p', clause, bind)}`);
    case 'token': {
      const { source, equals } = tokenAlternatives(clause, bind);
      return lateral(
        alias,
        `${source} ${lateral('found', `search_token p where ${equals('p')} and p.main_date = c.main_date and p.resource_key = c.resource_key`)}`,
      );
    }
    case 'reference': {
      const { source, equals } = referenceAlternatives(clause, bind);
      return lateral(
        alias,
        `${source} ${lateral('found', `reference_link p where ${equals('p')} and p.resource_key = c.resource_key`)}`,
      );
    }
  }
}

const lateral = (alias: string, rest: string): string => `cross join lateral (select 1 from ${rest} limit 1) ${alias}`;

class Binder {
  private readonly values: unknown[] = [];

  value(value: unknown): string {
    return `$${this.values.push(value)}`;
  }

  /** The name comes from the text: one shape of query has one prepared statement, whatever its values. */
  finish(text: string): CompiledSearch {
    return { statement: { name: nameOf(text), text }, values: this.values };
  }
}

/** Each name is a plan in each connection; real clients use a few dozen shapes. */
const MAX_NAMES = 500;
const names = new Map<string, string>();

/** Beyond the bound a shape has no name and is planned anew, so that nobody can fill the memory with odd queries. */
function nameOf(text: string): string {
  const known = names.get(text);
  if (known !== undefined) return known;
  if (names.size >= MAX_NAMES) return '';
  const name = `search-${createHash('sha256').update(text).digest('base64url').slice(0, 22)}`;
  names.set(text, name);
  return name;
}
