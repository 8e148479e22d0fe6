import { Binder, type BoundStatement } from '../../store/binder';
import { type CompartmentQuery, hasPatient, linksOf } from './compartment-query';
import { gathered, linksTo, patientLink, rowsBehind } from './entry-rows';
import { entryTest } from './entry-tests';
import { includedRows } from './included-rows';

/** A query part: it finds the entries of one type, or the resources that the entries refer to. */
export interface QueryPart {
  /** The name of the part in error messages: its type. */
  readonly label: string;
  readonly mode: 'match' | 'include';
  /** The definition of the index by which PostgreSQL finds the rows, for error messages. */
  readonly index: string;
  /** SQL that yields the columns `resource_key type id version updated_at bytes parameters`, unordered. */
  readonly rows: (bind: Binder) => string;
}

const LINK_INDEX =
  'reference_link_target_idx on reference_link (target_hash, parameter_id, main_date desc, resource_key desc)';
const PATIENT_INDEX = 'resource_type_id_idx on resource (type, id)';
const SOURCE_INDEX = 'reference_link_pk on reference_link (resource_key, parameter_id, target_hash)';

const COLUMNS = 'c.resource_key, c.type, c.id, c.version, c.updated_at, octet_length(c.body) as bytes';

/** The order of the entries within a part. */
export const ENTRY_ORDER = 'order by type, updated_at desc, id';

/**
 * Splits a query into its parts: the patient, then each type, then the included resources. Types without links have no
 * part.
 * @param present ids of the parameters that link any resource to the patient; if undefined, every type of the query has
 * a part
 */
export function queryPartsOf(query: CompartmentQuery, present?: ReadonlySet<number>): readonly QueryPart[] {
  const matches = [
    ...(hasPatient(query) ? [patientPart(query)] : []),
    ...linksOf(query)
      .map(([type, ids]) => [type, ids.filter((id) => present?.has(id) ?? true)] as const)
      .filter(([, ids]) => ids.length > 0)
      .map(([type, ids]) => typePart(query, type, ids)),
  ];
  const { included } = query;
  if (included === undefined || matches.length === 0) return matches;
  const sources = (bind: Binder): string =>
    matches.map(({ rows }) => `select resource_key from (${rows(bind)}) s`).join(' union all ');
  const rows = (bind: Binder): string => includedRows(included, sources(bind), bind);
  return [...matches, { label: 'what is included', mode: 'include', index: SOURCE_INDEX, rows }];
}

/**
 * Finds the ids of the parameters that link any resource to the patient, and {@link ITSELF} if the patient exists. It
 * probes the index once for each parameter. A semi join might read every link instead.
 */
export function presentParameters(query: CompartmentQuery): BoundStatement {
  const bind = new Binder();
  const ids = bind.value(query.compartment.parameterIds);
  return bind.finish(`select c.parameter_id from (${patientLink(query, bind)}) c
    union all select p.parameter_id from unnest(${ids}::integer[]) p(parameter_id) cross join lateral (
      select from reference_link l where l.target_hash = ${bind.value(query.patientHash)}::bigint and l.parameter_id = p.parameter_id limit 1
    ) l`);
}

/** Makes a statement such as `declare … for` that reads the rows of a part in order. */
export function ordered({ rows }: QueryPart, statementOf: (text: string) => string): BoundStatement {
  const bind = new Binder();
  return bind.finish(statementOf(`select * from (${rows(bind)}) row ${ENTRY_ORDER}`));
}

/** The query part that finds the patient itself. It also collects links of the patient to itself. */
const patientPart = (query: CompartmentQuery): QueryPart => ({
  label: 'Patient',
  mode: 'match',
  index: PATIENT_INDEX,
  rows: (bind) => {
    const ids = query.compartment.parameterIdsByType.get('Patient') ?? [];
    const links = gathered(`${patientLink(query, bind)} union all ${linksTo(query, ids, bind)}`);
    return rowsBehind(links, COLUMNS, `c.id = ${bind.value(query.patientId)} and ${entryTest(query, 'Patient', bind)}`);
  },
});

const typePart = (query: CompartmentQuery, type: string, ids: readonly number[]): QueryPart => ({
  label: type,
  mode: 'match',
  index: LINK_INDEX,
  rows: (bind) => {
    const others = type === 'Patient' ? ` and c.id <> ${bind.value(query.patientId)}` : '';
    return rowsBehind(linksBy(query, ids, bind), COLUMNS, `${entryTest(query, type, bind)}${others}`);
  },
});

/**
 * SQL that yields the linked resources with their parameters. Most types are linked by a single parameter, and then no
 * aggregation is needed.
 */
function linksBy(query: CompartmentQuery, ids: readonly number[], bind: Binder): string {
  if (ids.length > 1) return gathered(linksTo(query, ids, bind));
  return `select k.resource_key, k.parameter_id::text as parameters from (${linksTo(query, ids, bind)}) k`;
}
