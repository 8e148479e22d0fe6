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
export function* insertResources(rows: readonly NewRow[]): Steps<BoundStatement> {
  const ordered = [...rows].sort(byTypeAndId);
  return {
    statement: STATEMENT,
    values: [
      // The oldest: a row that was made by older parameters than those in force makes the whole start over (ADR 0019).
      Math.min(...ordered.map(({ parametersVersion }) => parametersVersion)),
      ...(yield* arraysOf(COLUMNS, ordered)),
    ],
  };
}

const STATEMENT = { name: 'resource-insert-many', text: statementText() };

function statementText(): string {
  const places = new SetPlaces(1); // after the version of the parameters
  const names = COLUMNS.map(([name]) => name);
  const values = names.map((name) => (name === 'version' ? 'version + z.checked' : name));
  const resource = `insert into resource (${names.join(', ')}) select ${values.join(', ')} from ${places.unnest(COLUMNS)}
    cross join (select ${assertKnown('$1::bigint')} as checked offset 0) z`;
  const steps = SEARCH_TABLES.map((table) => table.insertSql(places.sourceOf(table)));
  return withSteps(steps, resource);
}

const byTypeAndId = (a: NewRow, b: NewRow): number =>
  a.type === b.type ? (a.id < b.id ? -1 : 1) : a.type < b.type ? -1 : 1;
