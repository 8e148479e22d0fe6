import { type ReferenceClause, type TokenClause } from '../query/search-query';
import { type Binder } from '../../store/binder';

/** The index keys of a clause. A row that has one of them satisfies the clause. */
export interface Alternatives {
  /** SQL source `unnest(…) z(…)` that lists all keys; undefined if there is only one key. */
  readonly source: string | undefined;
  /** SQL condition: the row has the only key, or the key in `z`. */
  readonly equals: (row: string) => string;
}

/**
 * The keys of a token clause. A single key, the usual case, is written into the condition: a lookup with it costs half
 * as much as a join with a list of keys.
 */
export function tokenAlternatives({ tokens }: TokenClause, bind: Binder): Alternatives {
  const [token] = tokens;
  if (token !== undefined && tokens.length === 1) {
    const hash = bind.value(token.hash);
    const system = token.systemHash === undefined ? undefined : bind.value(token.systemHash);
    return {
      source: undefined,
      equals: (row) =>
        `${row}.token_hash = ${hash}::bigint${system === undefined ? '' : ` and ${row}.system_hash = ${system}::integer`}`,
    };
  }
  const hashes = bind.value(tokens.map(({ hash }) => hash));
  const systems = bind.value(tokens.map(({ systemHash }) => systemHash ?? null));
  return {
    source: `unnest(${hashes}::bigint[], ${systems}::integer[]) z(hash, system_hash)`,
    equals: (row) => `${row}.token_hash = z.hash and (z.system_hash is null or ${row}.system_hash = z.system_hash)`,
  };
}

export function referenceAlternatives({ links }: ReferenceClause, bind: Binder): Alternatives {
  const [link] = links;
  if (link !== undefined && links.length === 1) {
    const [target, parameter] = [bind.value(link.targetHash), bind.value(link.parameterId)];
    return {
      source: undefined,
      equals: (row) => `${row}.target_hash = ${target}::bigint and ${row}.parameter_id = ${parameter}::integer`,
    };
  }
  const targets = bind.value(links.map(({ targetHash }) => targetHash));
  const parameters = bind.value(links.map(({ parameterId }) => parameterId));
  return {
    source: `unnest(${targets}::bigint[], ${parameters}::integer[]) z(hash, parameter_id)`,
    equals: (row) => `${row}.target_hash = z.hash and ${row}.parameter_id = z.parameter_id`,
  };
}

export function parameterAlternatives(parameterIds: readonly number[], bind: Binder): Alternatives {
  const [id] = parameterIds;
  if (id !== undefined && parameterIds.length === 1) {
    const place = bind.value(id);
    return { source: undefined, equals: (row) => `${row}.parameter_id = ${place}::integer` };
  }
  return {
    source: `unnest(${bind.value(parameterIds)}::integer[]) z(parameter_id)`,
    equals: (row) => `${row}.parameter_id = z.parameter_id`,
  };
}

/**
 * SQL that selects `columns` of the rows of each alternative, in the order of the alternatives.
 * @param rest further conditions, which follow the key in `where`
 */
export function rowsOfEach(
  { source, equals }: Alternatives,
  table: string,
  row: string,
  columns: readonly string[],
  rest: string,
): string {
  const own = columns.map((column) => `${row}.${column}`).join(', ');
  const rows = `select ${own} from ${table} ${row} where ${equals(row)}${rest}`;
  return source === undefined ? rows : `select ${own} from ${source} cross join lateral (${rows} offset 0) ${row}`;
}

/**
 * SQL that selects, as `target_hash`, the patient of each resource that has one of the tokens. A token row holds the
 * patient of its resource, so no other table is read.
 */
export function patientsOf(clause: TokenClause, bind: Binder): string {
  const patients = rowsOfEach(
    tokenAlternatives(clause, bind),
    'search_token',
    'p',
    ['patient_hash'],
    ' and p.patient_hash <> 0',
  );
  return `select distinct p.patient_hash as target_hash from (${patients}) p`;
}
