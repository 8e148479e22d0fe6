import { type Statement } from '../../../platform/database/statement';
import { type SearchRows } from '../extract/search-rows';

/** A stored resource, and rows that it has or shall have. */
export interface RowsAtResource {
  readonly key: number;
  readonly mainDate: Date;
  readonly rows: SearchRows;
}

/** A statement over the rows of many resources; `values` is one array a column. */
export interface RowsStatement {
  readonly statement: Statement;
  readonly values: readonly unknown[][];
}

interface RowsTable {
  readonly name: string;
  /** Name and type, in the order of the tuples. */
  readonly columns: readonly (readonly [name: string, type: string])[];
  readonly tuplesOf: (at: RowsAtResource) => readonly (readonly unknown[])[];
}

const KEY = ['resource_key', 'bigint'] as const;
const MAIN_DATE = ['main_date', 'timestamptz'] as const;
const PARAMETER = ['parameter_id', 'integer'] as const;

/** The tables whose rows belong to a resource; the columns of each name a row exactly. */
const TABLES: readonly RowsTable[] = [
  {
    name: 'search_token',
    columns: [KEY, MAIN_DATE, ['token_hash', 'bigint'], ['system_hash', 'integer'], ['patient_hash', 'bigint']],
    tuplesOf: ({ key, mainDate, rows }) =>
      rows.tokens.map(({ hash, systemHash }) => [key, textOf(mainDate), hash, systemHash, rows.patientHash]),
  },
  {
    name: 'reference_link',
    columns: [KEY, MAIN_DATE, ['target_hash', 'bigint'], PARAMETER],
    tuplesOf: ({ key, mainDate, rows }) =>
      rows.references.map(({ targetHash, parameterId }) => [key, textOf(mainDate), targetHash, parameterId]),
  },
  {
    name: 'search_date',
    columns: [KEY, MAIN_DATE, ['low', 'timestamptz'], ['high', 'timestamptz'], PARAMETER],
    tuplesOf: ({ key, mainDate, rows }) =>
      rows.dates.map(({ low, high, parameterId }) => [
        key,
        textOf(mainDate),
        ...[low, high].map((at) => textOf(new Date(at))),
        parameterId,
      ]),
  },
  {
    name: 'search_number',
    columns: [
      ...[KEY, MAIN_DATE, PARAMETER],
      ['code_hash', 'bigint'],
      ['value', 'double precision'],
      ['unit_hash', 'integer'],
    ],
    tuplesOf: ({ key, mainDate, rows }) =>
      rows.numbers.map((row) => [key, textOf(mainDate), row.parameterId, row.codeHash, row.value, row.unitHash]),
  },
  {
    name: 'search_string',
    columns: [KEY, MAIN_DATE, PARAMETER, ['value', 'text']],
    tuplesOf: ({ key, mainDate, rows }) =>
      rows.strings.map(({ parameterId, value }) => [key, textOf(mainDate), parameterId, value]),
  },
];

const UNITS: RowsTable = {
  name: 'search_unit',
  columns: [
    ['unit_hash', 'integer'],
    ['system', 'text'],
    ['code', 'text'],
    ['unit', 'text'],
  ],
  tuplesOf: ({ rows }) =>
    rows.units.map(({ unitHash, system = '', code = '', unit = '' }) => [unitHash, system, code, unit]),
};

/**
 * Removes rows by their exact keys; those that are not there do not matter. The planner, who may see the tables empty, has no
 * choice but to look each one up: `offset 0` keeps the two sides apart.
 */
export function deleteRows(resources: readonly RowsAtResource[]): RowsStatement[] {
  return statementsOf('delete', TABLES, resources, ({ name, columns }) => {
    const isSame = columns.map(([column]) => `s.${column} = u.${column}`).join(' and ');
    return `delete from ${name} where ctid = any(array(
      select found.place from ${unnest(columns)}
      cross join lateral (select s.ctid as place from ${name} s where ${isSame} offset 0) found))`;
  });
}

/** Adds rows, and units that the dictionary does not know; in one order, so that nobody waits in a circle. */
export function insertRows(resources: readonly RowsAtResource[]): RowsStatement[] {
  const insert = ({ name, columns }: RowsTable): string =>
    `insert into ${name} (${namesOf(columns)}) select ${namesOf(columns)} from ${unnest(columns)}`;
  return [
    ...statementsOf('insert', TABLES, resources, insert),
    ...statementsOf('insert', [UNITS], resources, (table) => `${insert(table)} order by 1 on conflict do nothing`),
  ];
}

function statementsOf(
  verb: string,
  tables: readonly RowsTable[],
  resources: readonly RowsAtResource[],
  textOfTable: (table: RowsTable) => string,
): RowsStatement[] {
  return tables.flatMap((table) => {
    const tuples = resources.flatMap(table.tuplesOf);
    if (tuples.length === 0) return [];
    const statement = { name: `live-parameter-${verb}-${table.name}`, text: textOfTable(table) };
    return [{ statement, values: table.columns.map((_column, index) => tuples.map((tuple) => tuple[index])) }];
  });
}

const namesOf = (columns: RowsTable['columns']): string => columns.map(([name]) => name).join(', ');

const unnest = (columns: RowsTable['columns']): string =>
  `unnest(${columns.map(([, type], index) => `$${index + 1}::${type}[]`).join(', ')}) u(${namesOf(columns)})`;

const textOf = (date: Date): string => date.toISOString();
