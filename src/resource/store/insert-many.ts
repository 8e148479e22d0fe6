import { type ArrayElementType, binaryArray } from '../../platform/database/binary-array';
import { SEARCH_TABLES, type SearchTable } from './search-tables';
import { type BoundStatement, assertKnown, type NewRow } from './write-statements';

const COLUMNS: readonly (readonly [name: string, type: ArrayElementType, of: (row: NewRow) => unknown])[] = [
  ['resource_key', 'bigint', ({ key }) => key],
  ['main_date', 'timestamptz', ({ mainDate }) => mainDate],
  ['updated_at', 'timestamptz', ({ updatedAt }) => updatedAt],
  ['reference_hash', 'bigint', ({ referenceHash }) => referenceHash],
  ['present', 'bigint', ({ rows }) => rows.present],
  ['version', 'integer', ({ version }) => version],
  ['type', 'text', ({ type }) => type],
  ['id', 'text', ({ id }) => id],
  ['method', 'text', ({ method }) => method],
  ['body', 'text', ({ text }) => text],
];

/**
 * One statement that writes many resources and their search rows (ADR 0017): one insert a table, from arrays. Its text is
 * always the same, since a table without rows costs next to nothing among so many.
 * The rows of `resource` go in by type and id, so that two such statements with ids in common never wait in a circle.
 */
export function insertResources(rows: readonly NewRow[]): BoundStatement {
  const ordered = [...rows].sort(byTypeAndId);
  return {
    statement: STATEMENT,
    values: [
      // The oldest: a row that was made by older parameters than those in force makes the whole start over (ADR 0019).
      Math.min(...ordered.map(({ parametersVersion }) => parametersVersion)),
      ...COLUMNS.map(([, type, of]) => binaryArray(type, ordered.map(of))),
      ...SEARCH_TABLES.flatMap((table) => arraysOf(table, ordered)),
    ],
  };
}

/** All rows of one table: its own columns, then the key and the main date of the resource of each row. */
function arraysOf(table: SearchTable, resources: readonly NewRow[]): Buffer[] {
  const columns: unknown[][] = [...table.types, 'key', 'main date'].map(() => []);
  for (const { rows, key, mainDate } of resources) {
    const added = table.columnsOf(rows);
    const count = added[0]?.length ?? 0;
    if (count === 0) continue;
    for (const [index, values] of added.entries()) columns[index]?.push(...values);
    const [keys, dates] = columns.slice(table.types.length);
    for (let i = 0; i < count; i++) {
      keys?.push(key);
      dates?.push(mainDate);
    }
  }
  return typesOf(table).map((type, index) => binaryArray(type, columns[index] ?? []));
}

const typesOf = (table: SearchTable): ArrayElementType[] => [...table.types, 'bigint', 'timestamptz'];

const STATEMENT = { name: 'resource-insert-many', text: statementText() };

function statementText(): string {
  let place = 1; // of the version of the parameters
  const unnest = (types: readonly ArrayElementType[], names: readonly string[]): string =>
    `unnest(${types.map((type) => `$${++place}::${type}[]`).join(', ')}) u(${names.join(', ')})`;
  const names = COLUMNS.map(([name]) => name);
  const values = names.map((name) => (name === 'version' ? 'version + z.checked' : name));
  const resource = `insert into resource (${names.join(', ')}) select ${values.join(', ')} from ${unnest(
    COLUMNS.map(([, type]) => type),
    names,
  )} cross join (select ${assertKnown('$1::bigint')} as checked offset 0) z`;
  const steps = SEARCH_TABLES.map((table, index) => {
    const own = table.types.map((_type, column) => `c${column}`);
    const source = {
      key: 'u.resource_key',
      mainDate: 'u.main_date',
      unnest: unnest(typesOf(table), [...own, 'resource_key', 'main_date']),
    };
    return `c${index} as (${table.insertSql(source)})`;
  });
  return `with ${steps.join(',\n')}\n${resource}`;
}

const byTypeAndId = (a: NewRow, b: NewRow): number =>
  a.type === b.type ? (a.id < b.id ? -1 : 1) : a.type < b.type ? -1 : 1;
