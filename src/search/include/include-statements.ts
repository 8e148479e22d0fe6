import { type RowLimit } from '../rows/row-limit';
import { Binder, type BoundStatement } from '../../store/binder';
import { foundColumns } from '../compile/found-resource';

/**
 * SQL condition ` and …` that filters the rows of an alias with a `resource_key`, before any limit cuts them; empty
 * without a filter.
 */
type Narrowed = (alias: string) => string;

type IncludeText = (narrowed: Narrowed) => string;

const ORDER = 'order by t.type, t.resource_key desc';
const BODIES = `select ${foundColumns('t', ORDER)} from (select distinct resource_key from found order by 1 limit $4) f
  cross join lateral (select * from resource r where r.resource_key = f.resource_key limit 1) t ${ORDER}`;

/**
 * Finds resources by the references of sources. $1 keys of sources, $2 parameters, $3 types, $4 maximum number of rows.
 */
export const TARGETS: IncludeText = (narrowed) =>
  `with found as (select t.resource_key from unnest($1::bigint[]) k(resource_key)
    cross join lateral (select l.target_hash from reference_link l where l.resource_key = k.resource_key and l.parameter_id = any($2::integer[]) offset 0) l
    cross join lateral (select r.resource_key from resource r
      where r.reference_hash = l.target_hash and r.type = any($3::text[])${narrowed('r')} limit 1) t)
  ${BODIES}`;

/**
 * Finds resources that refer to targets. $1 hashes of targets, $2 parameters, $3 types (not null), $4 maximum number of
 * rows.
 */
export const SOURCES: IncludeText = (narrowed) =>
  `with found as (select l.resource_key from unnest($1::bigint[]) k(reference_hash)
    cross join unnest($2::integer[]) z(parameter_id)
    cross join lateral (select l.resource_key from reference_link l
      where l.target_hash = k.reference_hash and l.parameter_id = z.parameter_id and $3::text[] is not null${narrowed('l')} offset 0) l)
  ${BODIES}`;

/**
 * Finds resources by their own token, such as a url. $1 token hashes, $2 hashes of their systems or null, $3 maximum
 * for each token, $4 maximum number of rows.
 */
export const BY_NAME: IncludeText = (narrowed) =>
  `with found as (select t.resource_key from unnest($1::bigint[], $2::integer[]) z(hash, system_hash)
    cross join lateral (select t.resource_key from search_token t where t.token_hash = z.hash
      and (z.system_hash is null or t.system_hash = z.system_hash)${narrowed('t')} order by t.main_date desc, t.resource_key desc limit $3) t)
  ${BODIES}`;

/**
 * Binds the values. The row filter `limit` of the caller is added if there is one; without it, all rows are visible.
 */
export function boundWithin(
  textOf: IncludeText,
  values: readonly unknown[],
  limit: RowLimit | undefined,
): BoundStatement {
  const bind = new Binder();
  for (const value of values) bind.value(value);
  const test = limit?.testOfAny(bind);
  return bind.finish(
    textOf((alias) =>
      test === undefined
        ? ''
        : ` and (select true from resource c where c.resource_key = ${alias}.resource_key and ${test} limit 1) is true`,
    ),
  );
}
