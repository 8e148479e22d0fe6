import { type Compartment } from '../resource/compartment/compartments';
import { Binder, type CompiledSearch } from '../resource/search/compile/binder';
import { type LinkedTypes, linkedRows } from './linked-rows';
import { type MemberFilter, periodTest, seenTest } from './member-filter';

/** What a chart is asked for. */
export interface ChartQuery {
  readonly patientId: string;
  /** The hash that links to the patient are found by. */
  readonly patientHash: number;
  readonly compartment: Compartment;
  /** Undefined: all of the compartment. */
  readonly types: ReadonlySet<string> | undefined;
  readonly since: Date | undefined;
  readonly filter: MemberFilter;
  /** What is added of the resources that members refer to. */
  readonly linked: LinkedTypes | undefined;
}

/** Makes SQL of rows of one type: columns `resource_key type id version updated_at bytes parameters`, in no order. */
type RowsSql = (bind: Binder) => string;

/** A part of a large chart: the members of one type, or what they refer to. */
export interface Portion {
  /** The type, as an error names it. */
  readonly label: string;
  readonly mode: 'match' | 'include';
  /** Whether it is the patient itself. */
  readonly isPatient: boolean;
  /** The index that finds the rows, as it is made. */
  readonly index: string;
  readonly rows: RowsSql;
}

const LINK_INDEX =
  'reference_link_target_idx on reference_link (target_hash, parameter_id, main_date desc, resource_key desc)';
const SOURCE_INDEX = 'reference_link_pk on reference_link (resource_key, parameter_id, target_hash)';
const PATIENT_INDEX = 'resource_type_id_idx on resource (type, id)';

/** The order of the answer, within a portion. */
export const ROW_ORDER = 'order by type, updated_at desc, id';

/**
 * Divides a chart: the patient, type by type, then what is included. Only types with links have a portion.
 * @param present parameters that link something to the patient; all when it is not known yet
 */
export function portionsOf(query: ChartQuery, present?: ReadonlySet<number>): readonly Portion[] {
  const { compartment, types, linked } = query;
  const asked = (type: string): boolean => types?.has(type) ?? true;
  const members = [...compartment.parameterIdsByType]
    .filter(([type]) => asked(type))
    .map(([type, ids]): [string, number[]] => [type, ids.filter((id) => present?.has(id) ?? true)])
    .filter(([, ids]) => ids.length > 0)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([type, ids]): Portion => portion(type, LINK_INDEX, (bind) => memberRows(query, type, ids, bind)));
  const all = asked('Patient')
    ? [{ ...portion('Patient', PATIENT_INDEX, (bind) => patientRows(query, bind)), isPatient: true }, ...members]
    : members;
  if (linked === undefined) return all;
  const sources: RowsSql = (bind) =>
    all.map(({ rows }) => `select resource_key from (${rows(bind)}) s`).join(' union all ');
  const rows: RowsSql = (bind) => linkedRows(linked, sources(bind), query.filter, bind);
  return all.length === 0
    ? all
    : [...all, { label: 'what is included', mode: 'include', isPatient: false, index: SOURCE_INDEX, rows }];
}

/** Rows of a portion in their order, under a statement such as `declare … for`. */
export function orderedRows({ rows }: Portion, wrap: (text: string) => string): CompiledSearch {
  const bind = new Binder();
  return bind.finish(wrap(`select * from (${rows(bind)}) row ${ROW_ORDER}`));
}

const portion = (label: string, index: string, rows: RowsSql): Portion => ({
  label,
  mode: 'match',
  isPatient: false,
  index,
  rows,
});

const COLUMNS = 'c.resource_key, c.type, c.id, c.version, c.updated_at, octet_length(c.body) as bytes';

/** The patient itself, which may be linked to itself besides. */
function patientRows(query: ChartQuery, bind: Binder): string {
  const ids = query.compartment.parameterIdsByType.get('Patient') ?? [];
  return `select ${COLUMNS}, concat_ws(',', '0', (select string_agg(l.parameter_id::text, ',') from reference_link l
      where l.target_hash = ${bind.value(query.patientHash)}::bigint and l.parameter_id = any(${bind.value(ids)}::integer[]) and l.resource_key = c.resource_key)) as parameters
    from resource c where c.type = 'Patient' and c.id = ${bind.value(query.patientId)} and ${narrowed(query, 'Patient', bind)}`;
}

function memberRows(query: ChartQuery, type: string, ids: readonly number[], bind: Binder): string {
  const isPatient = type === 'Patient' ? ` and c.id <> ${bind.value(query.patientId)}` : '';
  return `select ${COLUMNS}, m.parameters from (${linkRows(query, ids, bind)}) m
    cross join lateral (select * from resource r where r.resource_key = m.resource_key limit 1) c
    where ${narrowed(query, type, bind)}${isPatient}`;
}

/** One row for each resource. Most types are linked by one parameter: nothing has to be gathered then. */
function linkRows({ patientHash }: ChartQuery, ids: readonly number[], bind: Binder): string {
  const from = `from reference_link l where l.target_hash = ${bind.value(patientHash)}::bigint`;
  const [only, ...others] = ids;
  if (only !== undefined && others.length === 0)
    return `select l.resource_key, l.parameter_id::text as parameters ${from} and l.parameter_id = ${bind.value(only)}::integer`;
  return `select l.resource_key, string_agg(l.parameter_id::text, ',') as parameters ${from}
      and l.parameter_id = any(${bind.value(ids)}::integer[]) group by l.resource_key`;
}

const narrowed = ({ since, filter }: ChartQuery, type: string, bind: Binder): string =>
  [
    since === undefined ? 'true' : `c.updated_at > ${bind.value(since)}::timestamptz`,
    periodTest(filter, bind),
    seenTest(filter, [type], bind),
  ].join(' and ');
