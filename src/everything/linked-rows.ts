import { type Binder } from '../resource/search/compile/binder';
import { type MemberFilter, seenTest } from './member-filter';

/** What members refer to and an answer adds. */
export interface LinkedTypes {
  /** Types that any reference may lead to. */
  readonly types: readonly string[];
  /** References by their parameters, and the type that they may lead to where only one counts. */
  readonly references: readonly { readonly parameterIds: readonly number[]; readonly type: string | undefined }[];
}

/**
 * SQL of the rows that `sources`, SQL of keys, refer to, and of what these refer to in turn, without the sources themselves,
 * whose parameter here is 0.
 * The parameters tell the references that led to each.
 */
export function linkedRows(linked: LinkedTypes, sources: string, filter: MemberFilter, bind: Binder): string {
  const routes = [
    ...(linked.types.length === 0 ? [] : [`t.type = any(${bind.value(linked.types)}::text[])`]),
    ...linked.references.map(({ parameterIds, type }) => {
      const byParameter = `f.parameter_id = any(${bind.value(parameterIds)}::integer[])`;
      return type === undefined ? byParameter : `(${byParameter} and t.type = ${bind.value(type)})`;
    }),
  ];
  const seen = seenTest(filter, undefined, bind);
  return `with recursive source as materialized (${sources}), found (resource_key, parameter_id) as (
      select resource_key, 0 from source
      union
      select c.resource_key, f.parameter_id from (
        select distinct l.parameter_id, l.target_hash from found k
        cross join lateral (select parameter_id, target_hash from reference_link l where l.resource_key = k.resource_key offset 0) l
      ) f cross join lateral (
        select * from resource t where t.reference_hash = f.target_hash and (${routes.join(' or ')}) limit 1
      ) c where ${seen}
    )
    select c.resource_key, c.type, c.id, c.version, c.updated_at, octet_length(c.body) as bytes, f.parameters
    from (select resource_key, string_agg(distinct parameter_id::text, ',') as parameters from found
      group by resource_key having min(parameter_id) > 0) f
    cross join lateral (select * from resource r where r.resource_key = f.resource_key limit 1) c`;
}
