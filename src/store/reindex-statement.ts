import { type Steps } from '../platform/time/steps';
import { SEARCH_TABLES } from './search-tables';
import { arraysOf, type IndexedResource, type SetColumn, SetPlaces } from './set-statement';
import { assertKnown, type BoundStatement, withSteps } from './write-statements';

interface ReindexedResource extends IndexedResource {
  readonly referenceHash: number;
}

const COLUMNS: readonly SetColumn<ReindexedResource>[] = [
  ['resource_key', 'bigint', ({ key }) => key],
  ['main_date', 'timestamptz', ({ mainDate }) => mainDate],
  ['reference_hash', 'bigint', ({ referenceHash }) => referenceHash],
  ['present', 'bigint', ({ present }) => present],
  ['index_digests', 'text', ({ indexDigests }) => indexDigests],
];

/**
 * One statement that makes the search rows of stored resources those of `resources`, as an update of each would, and
 * writes no version. The caller holds the locks of the resources.
 */
export function* reindexResources(
  resources: readonly ReindexedResource[],
  parametersVersion: number,
  keepsDigests: boolean,
): Steps<BoundStatement> {
  return {
    statement: STATEMENT,
    values: [parametersVersion, keepsDigests, ...(yield* arraysOf(COLUMNS, resources))],
  };
}

const STATEMENT = { name: 'resource-reindex', text: statementText() };

function statementText(): string {
  const places = new SetPlaces(2); // after the version of the parameters and the flag
  // Digests that no update would go by may stay: a job for all resources of a type need not write their rows.
  const resource = `update resource r set main_date = u.main_date, reference_hash = u.reference_hash, present = u.present,
      index_digests = u.index_digests
    from ${places.unnest(COLUMNS)}
    where (select ${assertKnown('$1::bigint')}) = 0 and r.resource_key = u.resource_key
      and ((r.main_date, r.reference_hash, r.present) is distinct from (u.main_date, u.reference_hash, u.present)
        or ($2::boolean and r.index_digests is distinct from u.index_digests) or (
        r.index_digests <> u.index_digests and split_part(r.index_digests, ' ', 1) = split_part(u.index_digests, ' ', 1)))`;
  const steps = SEARCH_TABLES.flatMap((table) =>
    table.replaceSql('s.resource_key = any($3::bigint[])', places.sourceOf(table)),
  );
  return withSteps(steps, resource);
}
