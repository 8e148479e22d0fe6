import { nestedIn } from '../query/nested-clauses';
import { type SearchClause } from '../query/search-query';

export type LinkClause = SearchClause & { readonly kind: 'chain' | 'has' };

export const isLink = (clause: SearchClause): clause is LinkClause => clause.kind === 'chain' || clause.kind === 'has';

/** Whether the clause depends on resources at the other end of a link. */
export const followsLinks = (clause: SearchClause): boolean => isLink(clause) || nestedIn(clause).some(followsLinks);

/** Whether the link leads to a clause with further links, so that there may be more paths than rows. */
export const isDeep = (clause: SearchClause): clause is LinkClause => isLink(clause) && followsLinks(clause.clause);
