import { type ReferenceClause, type TokenClause } from '../query/search-query';
import { type Binder } from '../../store/binder';

/** The index keys of a clause. A row that has one of them satisfies the clause. */
export interface Alternatives {
  /** SQL source `unnest(…) z(…)` that lists all keys; undefined if there is only one key. */
  readonly source: string | undefined;
  /** SQL condition: the row has the only key, or the key in `z`. */
  readonly equals: (row: string) => string;
}

interface KeyColumn {
  readonly name: string;
  readonly type: 'bigint' | 'integer';
  readonly values: readonly (number | undefined)[];
  /** Whether a value may be undefined: any value of the column then satisfies the alternative. */
  readonly isOptional?: true;
}

export const tokenAlternatives = ({ tokens }: TokenClause, bind: Binder): Alternatives =>
  alternativesOf(
    [
      { name: 'token_hash', type: 'bigint', values: tokens.map(({ hash }) => hash) },
      { name: 'system_hash', type: 'integer', values: tokens.map(({ systemHash }) => systemHash), isOptional: true },
    ],
    bind,
  );

export const referenceAlternatives = ({ links }: ReferenceClause, bind: Binder): Alternatives =>
  alternativesOf(
    [
      { name: 'target_hash', type: 'bigint', values: links.map(({ targetHash }) => targetHash) },
      { name: 'parameter_id', type: 'integer', values: links.map(({ parameterId }) => parameterId) },
    ],
    bind,
  );

export const parameterAlternatives = (parameterIds: readonly number[], bind: Binder): Alternatives =>
  alternativesOf([{ name: 'parameter_id', type: 'integer', values: parameterIds }], bind);

/** A single key, the usual case, is part of the condition: its lookup costs half as much as a join with a list. */
function alternativesOf(columns: readonly KeyColumn[], bind: Binder): Alternatives {
  if (columns.every(({ values }) => values.length === 1)) {
    const tests = columns.flatMap(({ name, type, values: [value] }) =>
      value === undefined ? [] : [`${name} = ${bind.value(value)}::${type}`],
    );
    return { source: undefined, equals: (row) => tests.map((test) => `${row}.${test}`).join(' and ') };
  }
  const lists = columns.map(({ type, values }) => `${bind.value(values.map((value) => value ?? null))}::${type}[]`);
  return {
    source: `unnest(${lists.join(', ')}) z(${columns.map(({ name }) => name).join(', ')})`,
    equals: (row) => columns.map((column) => equalsColumn(row, column)).join(' and '),
  };
}

const equalsColumn = (row: string, { name, isOptional }: KeyColumn): string =>
  isOptional === true ? `(z.${name} is null or ${row}.${name} = z.${name})` : `${row}.${name} = z.${name}`;

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
