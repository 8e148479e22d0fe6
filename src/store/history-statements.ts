import { SYSTEM_IDENTIFIER, TIMELINE } from '../platform/database/cluster-identity';
import { type Statement } from '../platform/database/statement';
import { earlyBody } from './late-texts';
import { Binder, type BoundStatement } from './binder';

/** A row filter: boolean SQL on alias `v`, a row with type and id. */
export interface VisibleRows {
  testOfCurrent(types: readonly string[], bind: Binder): string;
}

export interface HistoryScope {
  readonly types: readonly string[];
  /** Lists only versions of this resource; `types` then holds its type alone. */
  readonly id?: string;
  /** Lists only versions that were written at this time or later. */
  readonly since?: Date;
  /** Lists only versions that were current at some time of the period, both ends included. */
  readonly period?: { readonly start: Date; readonly end: Date };
  /** Lists only versions of transactions later than this one; a decimal number. */
  readonly afterTransaction?: string;
  /** Filter by the rows that the caller may see, applied to the current version; absent if all are visible. */
  readonly visible?: VisibleRows | undefined;
}

/** The position of a version in a history. It never changes, since versions keep their times. */
export interface HistoryPosition {
  readonly updatedAt: Date;
  readonly type: string;
  readonly id: string;
  readonly version: number;
}

export interface HistoryWalk {
  readonly direction: 'older' | 'newer';
  /** The version after which the page begins; without it, the page begins at the newest or oldest version. */
  readonly from?: HistoryPosition;
  readonly limit: number;
  /** Number of versions between `from` and the page. */
  readonly skip: number;
}

const NEWEST = ['resource', 'resource_history'].map(
  (table) => `(select v.transaction_id from ${table} v
    where v.type = t.type and v.transaction_id >= $2::xid8 and v.transaction_id < pg_snapshot_xmin(pg_current_snapshot())
    order by v.transaction_id desc limit 1)`,
);

/**
 * Reads three columns: the identity of the database's transaction history, whether transaction $2 has ended, and the
 * newest ended transaction (at least $2). This transaction wrote a version of the types $1, and all transactions before
 * it have ended.
 * It is read before the list, so that a client that continues from there misses nothing. Only transactions that wrote
 * count, since PostgreSQL may reuse the ids of others after a crash.
 */
export const READ_FEED: Statement = {
  name: 'resource-history-feed',
  text: `select ${SYSTEM_IDENTIFIER} || '-' || ${TIMELINE} || '-' || (select oid from pg_database where datname = current_database())
      || coalesce((select '-' || digest from server_setup where name = 'restore'), '') as history,
    $2::xid8 < pg_snapshot_xmin(pg_current_snapshot()) as has_ended,
    coalesce((select newest.transaction_id from unnest($1::text[]) t(type) cross join lateral (
      ${NEWEST.join(' union all ')}
    ) newest order by newest.transaction_id desc limit 1), $2::xid8)::text as last_transaction`,
};

/**
 * Reads the versions of a page. The total is a column, so that one statement sees one state of the tables. Each type is
 * a separate walk of a time index in `resource` and in `resource_history`. Each walk ends after a page, and the walks
 * are merged. So the history of the whole server needs no index across types, which would slow each write.
 */
export function historyPage(scope: HistoryScope, walk: HistoryWalk, hasTotal: boolean): BoundStatement {
  const places = new Places(scope);
  const { direction, from, limit, skip } = walk;
  const isOlder = direction === 'older';
  const comparison = isOlder ? '<' : '>';
  const inOrder = (...columns: string[]): string =>
    `order by ${columns.map((column) => `v.${column}${isOlder ? ' desc' : ''}`).join(', ')}`;
  const total = hasTotal ? `, (${totalText(places)}) as total` : '';
  const [version, most, skipped] = [from?.version ?? (isOlder ? 2 ** 31 - 1 : 0), skip + limit, skip].map((value) =>
    places.bind(value, 'integer'),
  );
  const page = `limit ${most} offset ${skipped}`;
  if (scope.id !== undefined) {
    const order = `${inOrder('version')} limit ${most}`;
    const walks = eachTable(places, (text) => `(${text} and v.version ${comparison} ${version} ${order})`);
    return places.finish(
      listed(`select v.*${total} from (${walks.join(' union all ')}) v ${inOrder('version')} ${page}`, hasTotal),
    );
  }
  const time = places.bind(from?.updatedAt ?? (isOlder ? 'infinity' : '-infinity'), 'timestamptz');
  const [type, id] = [from?.type ?? '', from?.id ?? ''].map((value) => places.bind(value, 'text'));
  const walks = eachTable(
    places,
    (text) => `(${text} and v.updated_at ${comparison}= ${time}
      and (v.updated_at, v.type, v.id, v.version) ${comparison} (${time}, ${type}, ${id}, ${version})
      ${inOrder('updated_at', 'id', 'version')} limit ${most})`,
  );
  return places.finish(
    listed(
      `select v.*${total} from unnest(${places.types}) t(type) cross join lateral (${walks.join(' union all ')}) v
     ${inOrder('updated_at', 'type', 'id', 'version')} ${page}`,
      hasTotal,
    ),
  );
}

/** Whether version `w` created its resource: the first version, or one after a deletion. */
const IS_CREATION = `w.version = 1 or exists (select from resource_history d
  where d.type = w.type and d.id = w.id and d.version = w.version - 1 and d.method = 'DELETE') as is_creation`;

/** SQL of the rows of a page. Only the first rows include their bodies. */
const listed = (page: string, hasTotal: boolean): string =>
  `select w.type, w.id, w.version, w.updated_at, w.method, ${IS_CREATION}, ${hasTotal ? 'w.total, ' : ''}${earlyBody('w', '')} from (${page}) w`;

export function historyTotal(scope: HistoryScope): BoundStatement {
  const places = new Places(scope);
  return places.finish(`select (${totalText(places)}) as total`);
}

const TABLES = ['resource', 'resource_history'] as const;
type Table = (typeof TABLES)[number];

const eachTable = (places: Places, walkOf: (text: string) => string): string[] =>
  TABLES.map((table) =>
    walkOf(
      `select v.type, v.id, v.version, v.updated_at, v.method, v.body from ${sourceOf(table, 'v.type = t.type', places)} v where ${places.oneOf ?? 'v.type = t.type'} and ${conditionOf(table, places)}`,
    ),
  );

const totalText = (places: Places): string =>
  TABLES.map(
    (table) =>
      `(select count(*) from ${sourceOf(table, `v.type = any(${places.types})`, places)} v where ${places.oneOf ?? `v.type = any(${places.types})`} and ${conditionOf(table, places)})`,
  ).join(' + ');

/**
 * The rows of a table to count or list. For a feed, new versions are first selected by transaction. `offset 0` keeps
 * the planner from walking the time index instead, past all older versions.
 */
function sourceOf(table: Table, ofTypes: string, { transaction, oneOf }: Places): string {
  if (transaction === undefined || oneOf !== undefined) return table;
  return `(select * from ${table} v where ${ofTypes} and v.transaction_id > ${transaction} offset 0)`;
}

/**
 * Condition for the versions of a scope. A current version is valid until now; an earlier one was valid until its
 * successor came. A deletion is an event and not a state, so it belongs to the period in which it happened.
 */
function conditionOf(table: Table, { since, until, periodStart, transaction, oneOf, isVisible }: Places): string {
  const isLater = transaction === undefined || oneOf === undefined ? '' : ` and v.transaction_id > ${transaction}`;
  const range = `v.updated_at >= ${since} and v.updated_at <= ${until}${isLater}${isVisible}`;
  if (periodStart === undefined || table === 'resource') return range;
  const hasSuccessor = (of: Table): string =>
    `exists (select from ${of} s where s.type = v.type and s.id = v.id and s.version = v.version + 1 and s.updated_at > ${periodStart})`;
  return `${range} and case v.method when 'DELETE' then v.updated_at >= ${periodStart}
    else ${TABLES.map(hasSuccessor).join(' or ')} end`;
}

class Places {
  private readonly binder = new Binder();
  readonly types: string;
  readonly since: string;
  readonly until: string;
  readonly periodStart: string | undefined;
  readonly transaction: string | undefined;
  /** Condition for the versions of the one resource; undefined if the scope is not one resource. */
  readonly oneOf: string | undefined;
  /** Condition for rows that the caller may see; empty if the caller may see all. */
  readonly isVisible: string;

  constructor({ types, id, since, period, afterTransaction, visible }: HistoryScope) {
    this.types = id === undefined ? this.bind(types, 'text[]') : this.bind(types[0], 'text');
    this.oneOf = id === undefined ? undefined : `v.type = ${this.types} and v.id = ${this.bind(id, 'text')}`;
    this.since = this.bind(since ?? '-infinity', 'timestamptz');
    this.until = this.bind(period?.end ?? 'infinity', 'timestamptz');
    this.periodStart = period === undefined ? undefined : this.bind(period.start, 'timestamptz');
    this.transaction = afterTransaction === undefined ? undefined : this.bind(afterTransaction, 'xid8');
    this.isVisible = visible === undefined ? '' : ` and ${visible.testOfCurrent(types, this.binder)}`;
  }

  bind(value: unknown, type: string): string {
    return `${this.binder.value(value)}::${type}`;
  }

  finish(text: string): BoundStatement {
    return this.binder.finish(text);
  }
}
