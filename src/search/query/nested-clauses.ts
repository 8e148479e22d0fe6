import { type SearchClause } from './search-query';

/** The clauses within a clause: joined, negated, or at the other end of a link. */
export function nestedIn(clause: SearchClause): readonly SearchClause[] {
  if ('clauses' in clause) return clause.clauses;
  return 'clause' in clause ? [clause.clause] : [];
}

export async function withNested(
  clause: SearchClause,
  change: (inner: SearchClause) => Promise<SearchClause>,
): Promise<SearchClause> {
  if ('clauses' in clause) return { ...clause, clauses: await changedEach(clause.clauses, change) };
  return 'clause' in clause ? { ...clause, clause: await change(clause.clause) } : clause;
}

/** Changes clauses one after the other, since a change may run statements. */
export async function changedEach(
  clauses: readonly SearchClause[],
  change: (clause: SearchClause) => Promise<SearchClause>,
): Promise<readonly SearchClause[]> {
  const changed: SearchClause[] = [];
  for (const clause of clauses) changed.push(await change(clause));
  return changed;
}

/** A single clause is returned as it is. */
export function joined(kind: 'all' | 'any', clauses: readonly SearchClause[]): SearchClause {
  const [only] = clauses;
  return only !== undefined && clauses.length === 1 ? only : { kind, clauses };
}

/** Whether a test of the clause reads the texts of resources. */
export const readsTexts = (clause: SearchClause): boolean =>
  ['body', 'path', 'words'].includes(clause.kind) || nestedIn(clause).some(readsTexts);
