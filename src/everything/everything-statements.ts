import { type Statement } from '../platform/database/statement';
import { Binder, type CompiledSearch } from '../resource/search/compile/binder';
import { type MemberFilter, periodTest, seenTest } from './member-filter';

/** Links of a chart that is read by one statement; larger ones are read type by type. */
const MOST_LINKS = 1_000;

/** Bytes of a body that is read by that statement. */
const MOST_BYTES = 65_536;

/** A row of {@link PATIENT_EVERYTHING}. */
export interface ChartRow {
  /** The links that there are, of which more than `mostLinks` are not followed. */
  readonly size: number;
  /** Null, as all below, where there is no member. */
  readonly type: string | null;
  readonly id: string;
  /** Ids of the parameters that link it to the patient, 0 for the patient itself, with commas between. */
  readonly parameters: string;
  /** Null where it is longer than `mostBytes`. */
  readonly body: string | null;
}

export const isWholeChart = (rows: readonly ChartRow[]): boolean =>
  rows.every(({ size, type, body }) => size <= MOST_LINKS && (type === null || body !== null));

/**
 * The patient and all that links to it by parameters of the compartment, each once, with the parameters: one statement, hence one
 * snapshot. The patient comes first, then type by type, the newest first. A chart that is too large for memory yields its
 * size alone.
 */
const chartIf = (test: string): string => `with link as materialized (
      select resource_key, parameter_id from reference_link where target_hash = $1 and parameter_id = any($2) limit ${MOST_LINKS + 1}
    ), member as (
      select l.resource_key, string_agg(l.parameter_id::text, ',') as parameters from (
        select resource_key, parameter_id from link where (select count(*) from link) <= ${MOST_LINKS}
        union all select resource_key, 0 from resource where type = 'Patient' and id = $3
      ) l group by l.resource_key
    )
    select n.size, e.type, e.id, e.parameters, e.body from (select count(*)::integer as size from link) n left join (
      select c.type, c.id, c.updated_at, m.parameters, case when octet_length(c.body) <= ${MOST_BYTES} then c.body end as body
      from member m cross join lateral (select * from resource r where r.resource_key = m.resource_key limit 1) c
      where ($4::timestamptz is null or c.updated_at > $4)${test}
    ) e on true
    order by (e.type = 'Patient' and e.id = $3) desc, e.type, e.updated_at desc, e.id`;

/** $1 hash of the patient's reference, $2 parameters, $3 the patient's id (null: without it), $4 since or null. */
export const PATIENT_EVERYTHING: Statement = { name: 'patient-everything', text: chartIf('') };

/** The same as far as the filter goes; the values of the other statement come first. */
export function everythingWithin(filter: MemberFilter, values: readonly unknown[]): CompiledSearch {
  if (filter.limit === undefined && filter.period === undefined) return { statement: PATIENT_EVERYTHING, values };
  const bind = boundTo(values);
  return bind.finish(chartIf(` and ${periodTest(filter, bind)} and ${seenTest(filter, undefined, bind)}`));
}

function boundTo(values: readonly unknown[]): Binder {
  const bind = new Binder();
  for (const value of values) bind.value(value);
  return bind;
}
