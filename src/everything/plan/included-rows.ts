import { type Binder } from '../../store/binder';
import { type CompartmentQuery } from './compartment-query';
import { readableTest } from './entry-tests';

/**
 * SQL that yields the resources that `sources` (SQL of resource keys) refer to, directly or through other included
 * resources. The sources themselves are not in the result; their `parameter_id` in this statement is 0. `parameters`
 * has the ids of the references that led to each row.
 */
export function includedRows(
  { types, references, limit }: NonNullable<CompartmentQuery['included']>,
  sources: string,
  bind: Binder,
): string {
  const routes = [
    ...(types.length === 0 ? [] : [`t.type = any(${bind.value(types)}::text[])`]),
    ...references.map(
      (one) =>
        `f.parameter_id = any(${bind.value(one.parameterIds)}::integer[]) and t.type = any(${bind.value(one.types)}::text[])`,
    ),
  ];
  return `with recursive source as materialized (${sources}), found (resource_key, parameter_id) as (
      select resource_key, 0 from source
      union
      select c.resource_key, f.parameter_id from (
        select distinct l.parameter_id, l.target_hash from found k
        cross join lateral (select parameter_id, target_hash from reference_link l where l.resource_key = k.resource_key offset 0) l
      ) f cross join lateral (
        select * from resource t where t.reference_hash = f.target_hash and (${routes.join(' or ')}) limit 1
      ) c where ${readableTest(limit, undefined, bind)}
    )
    select c.resource_key, c.type, c.id, c.version, c.updated_at, octet_length(c.body) as bytes, f.parameters
    from (select resource_key, string_agg(distinct parameter_id::text, ',') as parameters from found
      group by resource_key having min(parameter_id) > 0) f
    cross join lateral (select * from resource r where r.resource_key = f.resource_key limit 1) c`;
}
