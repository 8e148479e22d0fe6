import { Binder, type BoundStatement } from '../../store/binder';
import { type CompartmentQuery, hasPatient, linksOf } from './compartment-query';
import { type EntryHead, gathered, linksTo, patientLink, rowsBehind } from './entry-rows';
import { entryTest } from './entry-tests';

/**
 * Limits of the first chunk, which is a whole small answer that one statement reads: the number of links, the bytes of
 * one body, and the bytes of all bodies.
 */
export const MOST_LINKS = 1_000;
const MOST_BYTES_OF_BODY = 64 * 1024;
const MOST_BYTES = 2 * 1024 * 1024;

export interface FirstChunkRow extends Omit<EntryHead, 'type'> {
  /** Number of links to the patient; null if the patient is not stored or the caller may not read it. */
  readonly links: number | null;
  /** The type of an entry. If there is no entry, this and all columns below are null. */
  readonly type: string | null;
  /** The body. Null if it is too long for the first chunk, or if it and all bodies before it are too long together. */
  readonly body: string | null;
}

/**
 * Reads all entries with their bodies, in the order of the answer, by one statement. If there are more than `mostLinks`
 * links, it returns only the number of links. A body that is too long is null; so are the bodies after the first {@link
 * MOST_BYTES}.
 */
export function firstChunk(query: CompartmentQuery, mostLinks: number): BoundStatement {
  const bind = new Binder();
  const ids = query.types === undefined ? query.compartment.parameterIds : linksOf(query).flatMap(([, own]) => own);
  const count = '(select count(*) from link)::integer';
  const followed = [
    `select resource_key, parameter_id from link where ${count} <= ${bind.value(mostLinks)}::integer`,
    ...(hasPatient(query) ? ['select resource_key, parameter_id from patient'] : []),
  ];
  const columns = 'c.type, c.id, c.updated_at, c.body';
  const order = `(e.type = 'Patient' and e.id = ${bind.value(query.patientId)}) desc, e.type, e.updated_at desc, e.id`;
  // A running sum over the sorted rows: it needs no copy of the rows and no second pass.
  const bytes = `sum(octet_length(e.body)) over (order by ${order} rows unbounded preceding)`;
  return bind.finish(`with patient as not materialized (${patientLink(query, bind)}),
    link as materialized (${linksTo(query, ids, bind)} limit ${MOST_LINKS + 1})
    select n.links, e.type, e.id, e.parameters,
      case when octet_length(e.body) <= ${MOST_BYTES_OF_BODY} and ${bytes} <= ${MOST_BYTES} then e.body end as body
    from (select case when exists (select from patient) then ${count} end as links) n left join (
      ${rowsBehind(gathered(followed.join(' union all ')), columns, entryTest(query, undefined, bind))}
    ) e on true
    order by ${order}`);
}
