import { type StoredResource, type StoredVersion, type WriteMethod } from '../model/stored-resource';
import { type Statement } from '../platform/database/statement';

// SQL that reads and locks resources; see also `write-statements.ts` and `history-statements.ts`.

export const RESOURCE_COLUMNS = 'type, id, version, updated_at, method, body';

export interface ResourceRow {
  readonly type: string;
  readonly id: string;
  readonly version: number;
  readonly updated_at: Date;
  readonly method: WriteMethod;
  readonly body: string;
}

/** A row of a version; a deletion has no body. */
export interface VersionRow extends Omit<ResourceRow, 'body'> {
  readonly body: string | null;
}

export const storedResourceOf = (row: ResourceRow): StoredResource => ({
  type: row.type,
  id: row.id,
  version: row.version,
  updatedAt: row.updated_at,
  method: row.method,
  text: row.body,
});

export function storedVersionOf({ body, ...row }: VersionRow): StoredVersion {
  if (body !== null) return storedResourceOf({ ...row, body });
  return { type: row.type, id: row.id, version: row.version, updatedAt: row.updated_at, method: 'DELETE' };
}

export const READ_CURRENT: Statement = {
  name: 'resource-read',
  text: `select ${RESOURCE_COLUMNS} from resource where type = $1 and id = $2`,
};

/** Locks a row for a write. It waits for a transaction that is changing the row. */
export const READ_FOR_UPDATE: Statement = {
  name: 'resource-read-for-update',
  text: `select ${RESOURCE_COLUMNS}, resource_key, main_date, index_digests from resource where type = $1 and id = $2 for update`,
};

export const READ_MANY: Statement = {
  name: 'resource-read-many',
  text: `select ${RESOURCE_COLUMNS} from resource where type = $1 and id = any($2)`,
};

export const READ_ALL_OF_TYPE: Statement = {
  name: 'resource-read-all-of-type',
  text: `select ${RESOURCE_COLUMNS} from resource where type = $1 order by id`,
};

/** Returns those of the requested resources that are not stored now. */
export const READ_MISSING: Statement = {
  name: 'resource-read-missing',
  text: `select asked.type, asked.id from unnest($1::text[], $2::text[]) asked(type, id)
    where not exists (select 1 from resource r where r.type = asked.type and r.id = asked.id)`,
};

/** Whether an id is in the history. If nothing is stored now, the resource was deleted. */
export const HAS_HISTORY: Statement = {
  name: 'resource-has-history',
  text: 'select exists (select from resource_history where type = $1 and id = $2) as was_stored',
};

export const READ_VERSION: Statement = {
  name: 'resource-read-version',
  text: `select ${RESOURCE_COLUMNS} from resource where type = $1 and id = $2 and version = $3
    union all select ${RESOURCE_COLUMNS} from resource_history where type = $1 and id = $2 and version = $3`,
};

/** SQL of exact versions, as `found`. `asked` is a relation with type, id and version. */
export const versionsOf = (asked: string, columns: string): string => `${asked} asked cross join lateral (
      select ${columns} from resource r where r.type = asked.type and r.id = asked.id and r.version = asked.version
      union all
      select ${columns} from resource_history h where h.type = asked.type and h.id = asked.id and h.version = asked.version
    ) found`;

/** The versions of the arrays $1 (types), $2 (ids) and $3 (versions), with their positions from 1. */
const ASKED_VERSIONS = `(select * from unnest($1::text[], $2::text[], $3::integer[]) with ordinality u(type, id, version, position))`;

/** Exact versions of many resources, in the requested order. */
export const READ_VERSIONS: Statement = {
  name: 'resource-read-versions',
  text: `select found.* from ${versionsOf(ASKED_VERSIONS, RESOURCE_COLUMNS)} order by asked.position`,
};

/**
 * Locks ids, so that other transactions that create them wait until this one ends. The ascending order prevents
 * deadlocks. It is a separate statement, since the search for stored rows must begin when the locks are held.
 */
export const LOCK_IDS: Statement = {
  name: 'resource-lock-ids',
  text: 'select count(pg_advisory_xact_lock(asked.hash)) from (select distinct hash from unnest($1::bigint[]) hash order by hash) asked',
  lockKey: 'k::bigint',
};

/** Returns the total length of many bodies, without reading them. */
export const READ_BYTES: Statement = {
  name: 'resource-read-bytes',
  text: `select coalesce(sum(octet_length(r.body)), 0) as bytes from unnest($1::text[], $2::text[]) asked(type, id)
    cross join lateral (select s.body from resource s where s.type = asked.type and s.id = asked.id limit 1) r`,
};

/**
 * SQL that locks many rows. Rows are locked in the order in which they are found; the sorted join makes this the order
 * of type and id.
 */
const manyForUpdate = (
  condition = '',
): string => `select r.${RESOURCE_COLUMNS.replaceAll(', ', ', r.')}, r.resource_key, r.main_date, r.index_digests
    from (select type, id from unnest($1::text[], $2::text[]) u(type, id) order by type, id) asked
    cross join lateral (
      select * from resource s where s.type = asked.type and s.id = asked.id${condition} for update
    ) r`;

export const READ_MANY_FOR_UPDATE: Statement = { name: 'resource-read-many-for-update', text: manyForUpdate() };

/** Locks the resources whose index rows were made with other parameters than version $3, according to their digests. */
export const READ_OUTDATED_FOR_UPDATE: Statement = {
  name: 'resource-read-outdated-for-update',
  text: manyForUpdate(` and split_part(s.index_digests, ' ', 1) is distinct from s.version || '.' || $3`),
};

/**
 * SQL of the creation time of a row of `resource`. Until the first change it is the time of the row, then the time of
 * version 1 in the history.
 */
export const createdAt = (row: string): string =>
  `case when ${row}.version = 1 then ${row}.updated_at else (select v.updated_at from resource_history v
where v.type = ${row}.type and v.id = ${row}.id and v.version = 1) end`;

/**
 * The newest version of each id in the history. If nothing is stored now, this is a deletion; its columns include its
 * time and the time of version 1.
 */
export const LAST_VERSIONS: Statement = {
  name: 'resource-last-versions',
  text: `select last.type, last.id, last.version,
      case when last.method = 'DELETE' then last.updated_at end as deleted_at,
      case when last.method = 'DELETE' then ${createdAt('last')} end as created_at
    from unnest($1::text[], $2::text[]) asked(type, id)
    cross join lateral (
      select h.type, h.id, h.version, h.updated_at, h.method from resource_history h
      where h.type = asked.type and h.id = asked.id order by h.version desc limit 1
    ) last`,
};

/** Returns the time of version 1 of a resource that has later versions. */
export const READ_CREATION: Statement = {
  name: 'resource-read-creation',
  text: 'select updated_at from resource_history where type = $1 and id = $2 and version = 1',
};
