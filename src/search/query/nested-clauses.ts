import { type SearchClause } from './search-query';

/** The clauses within a clause: joined, negated, or at the other end of a link. */
export function nestedIn(clause: SearchClause): readonly SearchClause[] {
  switch (clause.kind) {
    case 'all':
    case 'any':
      return clause.clauses;
    case 'not':
    case 'chain':
    case 'has':
      return [clause.clause];
    default:
      return [];
  }
}

/** Joins clauses by AND or OR. A single clause is returned as it is. */
export function joined(kind: 'all' | 'any', clauses: readonly SearchClause[]): SearchClause {
  const [only] = clauses;
  return only !== undefined && clauses.length === 1 ? only : { kind, clauses };
}

/** Whether a test of the clause reads the texts of resources. */
export const readsTexts = (clause: SearchClause): boolean =>
  ['body', 'path', 'words'].includes(clause.kind) || nestedIn(clause).some(readsTexts);
