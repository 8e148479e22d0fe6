import { type Statement } from '../../platform/database/statement';

/** All SQL of the resource tables but for search (`../search`) and the writes (`write-statements.ts`). */

const COLUMNS = 'type, id, version, updated_at, method, body';

export const READ_CURRENT: Statement = {
  name: 'resource-read',
  text: `select ${COLUMNS} from resource where type = $1 and id = $2`,
};

/** For a write: waits for whoever changes the row now. */
export const READ_FOR_UPDATE: Statement = {
  name: 'resource-read-for-update',
  text: `select ${COLUMNS}, resource_key, main_date from resource where type = $1 and id = $2 for update`,
};

export const READ_MANY: Statement = {
  name: 'resource-read-many',
  text: `select ${COLUMNS} from resource where type = $1 and id = any($2)`,
};

export const READ_ALL_OF_TYPE: Statement = {
  name: 'resource-read-all-of-type',
  text: `select ${COLUMNS} from resource where type = $1 order by id`,
};

/** Those of the asked resources that are not stored now. */
export const READ_MISSING: Statement = {
  name: 'resource-read-missing',
  text: `select asked.type, asked.id from unnest($1::text[], $2::text[]) asked(type, id)
    where not exists (select 1 from resource r where r.type = asked.type and r.id = asked.id)`,
};

/** The newest version that is over: a deletion, when nothing is stored now. */
export const READ_LAST_HISTORY: Statement = {
  name: 'resource-history-last',
  text: `select ${COLUMNS} from resource_history where type = $1 and id = $2 order by version desc limit 1`,
};

export const READ_VERSION: Statement = {
  name: 'resource-read-version',
  text: `select ${COLUMNS} from resource where type = $1 and id = $2 and version = $3
    union all select ${COLUMNS} from resource_history where type = $1 and id = $2 and version = $3`,
};

/** Exact versions of many resources, in the order asked. */
export const READ_VERSIONS: Statement = {
  name: 'resource-read-versions',
  text: `select found.* from unnest($1::text[], $2::text[], $3::integer[]) with ordinality asked(type, id, version, position)
    cross join lateral (
      select ${COLUMNS} from resource r where r.type = asked.type and r.id = asked.id and r.version = asked.version
      union all
      select ${COLUMNS} from resource_history h where h.type = asked.type and h.id = asked.id and h.version = asked.version
    ) found order by asked.position`,
};

export const READ_HISTORY: Statement = {
  name: 'resource-history',
  text: `select ${COLUMNS} from resource where type = $1 and id = $2 and version < $3
    union all select ${COLUMNS} from resource_history where type = $1 and id = $2 and version < $3
    order by version desc limit $4`,
};

export const COUNT_HISTORY: Statement = {
  name: 'resource-history-count',
  text: `select (select count(*) from resource where type = $1 and id = $2)
    + (select count(*) from resource_history where type = $1 and id = $2) as total`,
};

/**
 * Holds off others who create the same id until this transaction ends. A statement of its own: the search for an
 * existing row must begin after the lock is held.
 */
export const LOCK_ID: Statement = {
  name: 'resource-lock-id',
  text: 'select pg_advisory_xact_lock($1)',
};
