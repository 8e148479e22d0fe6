import { Binder, type CompiledSearch } from '../../platform/database/binder';
import { type CompartmentQuery, hasPatient, linksOf } from './compartment-query';
import { gathered, linksTo, patientLink, rowsBehind } from './entry-rows';
import { entryTest } from './entry-tests';

/** The links that the first chunk follows, the bytes of each of its bodies, and of all together. */
export const MOST_LINKS = 1_000;
const MOST_BYTES_OF_BODY = 64 * 1024;
const MOST_BYTES = 2 * 1024 * 1024;

/** A row of {@link firstChunk}. */
export interface FirstChunkRow {
  /** How many links there are; null where the patient is not stored, or the caller may not read it. */
  readonly links: number | null;
  /** Null, as all below, where there is no entry. */
  readonly type: string | null;
  readonly id: string;
  /** Ids of the parameters that link it to the patient, 0 for the patient itself, with commas between. */
  readonly parameters: string;
  /** Null where it is too long for the first chunk, or the bodies of all entries together are. */
  readonly body: string | null;
}

/**
 * All entries in the order of the answer, with their bodies, by one statement. Of a compartment with more links than
 * `mostLinks` it returns their number alone, bodies that are too long are null.
 */
export function firstChunk(query: CompartmentQuery, mostLinks: number): CompiledSearch {
  const bind = new Binder();
  const ids = query.types === undefined ? query.compartment.parameterIds : linksOf(query).flatMap(([, own]) => own);
  const followed = [
    `select resource_key, parameter_id from link where (select links from state) <= ${bind.value(mostLinks)}::integer`,
    ...(hasPatient(query) ? ['select resource_key, parameter_id from patient'] : []),
  ];
  const isShort = `octet_length(c.body) <= ${MOST_BYTES_OF_BODY} and sum(octet_length(c.body)) over () <= ${MOST_BYTES}`;
  const columns = `c.type, c.id, c.updated_at, case when ${isShort} then c.body end as body`;
  return bind.finish(`with patient as (${patientLink(query, bind)}),
    link as materialized (${linksTo(query, ids, bind)} limit ${MOST_LINKS + 1}),
    state as (select case when exists (select from patient) then (select count(*) from link)::integer end as links)
    select s.links, e.type, e.id, e.parameters, e.body from state s left join (
      ${rowsBehind(gathered(followed.join(' union all ')), columns, entryTest(query, undefined, bind))}
    ) e on true
    order by (e.type = 'Patient' and e.id = ${bind.value(query.patientId)}) desc, e.type, e.updated_at desc, e.id`);
}
