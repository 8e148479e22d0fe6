import { type Statement } from '../platform/database/statement';
import { type StatementPart } from '../platform/database/statement-part';
import { type Steps } from '../platform/time/steps';
import { SEARCH_TABLES } from './search-tables';
import { arraysOf, type SetColumn, SetPlaces } from './set-statement';
import { assertKnown, type BoundStatement, type NewRow, withSteps } from './write-statements';

const COLUMNS: readonly SetColumn<NewRow>[] = [
  ['resource_key', 'bigint', ({ key }) => key],
  ['main_date', 'timestamptz', ({ mainDate }) => mainDate],
  ['updated_at', 'timestamptz', ({ updatedAt }) => updatedAt],
  ['reference_hash', 'bigint', ({ referenceHash }) => referenceHash],
  ['present', 'bigint', ({ present }) => present],
  ['index_digests', 'text', ({ indexDigests }) => indexDigests],
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
export function* insertResources(rows: readonly NewRow[], parts: readonly StatementPart[] = []): Steps<BoundStatement> {
  const ordered = [...rows].sort(byTypeAndId);
  const values = [
    // The oldest: a row that was made by older parameters than those in force makes the whole start over (ADR 0019).
    Math.min(...ordered.map(({ parametersVersion }) => parametersVersion)),
    ...(yield* arraysOf(COLUMNS, ordered)),
  ];
  return {
    statement: statementWith(parts, values.length),
    values: [...values, ...parts.flatMap((part) => part.values)],
  };
}

/** By the names of the parts: one name, one SQL. */
const statements = new Map<string, Statement>();

/** @param first values before those of the parts */
function statementWith(parts: readonly StatementPart[], first: number): Statement {
  const name = ['resource-insert-many', ...parts.map((part) => part.name)].join(' ');
  const known = statements.get(name);
  if (known !== undefined) return known;
  let used = first;
  const steps = parts.map(({ values, sqlOf }) => sqlOf(values.map(() => `$${++used}`)));
  const statement = { name, text: statementText(steps) };
  statements.set(name, statement);
  return statement;
}

function statementText(more: readonly string[]): string {
  const places = new SetPlaces(1); // after the version of the parameters
  const names = COLUMNS.map(([name]) => name);
  const values = names.map((name) => (name === 'version' ? 'version + z.checked' : name));
  const resource = `insert into resource (${names.join(', ')}) select ${values.join(', ')} from ${places.unnest(COLUMNS)}
    cross join (select ${assertKnown('$1::bigint')} as checked offset 0) z`;
  const steps = SEARCH_TABLES.map((table) => table.insertSql(places.sourceOf(table)));
  return withSteps([...steps, ...more], resource);
}

const byTypeAndId = (a: NewRow, b: NewRow): number =>
  a.type === b.type ? (a.id < b.id ? -1 : 1) : a.type < b.type ? -1 : 1;
