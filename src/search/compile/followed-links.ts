import { type Binder } from '../../store/binder';
import { nestedIn } from '../query/nested-clauses';
import { type SearchClause } from '../query/search-query';

export type LinkClause = SearchClause & { readonly kind: 'chain' | 'has' };

export const isLink = (clause: SearchClause): clause is LinkClause => clause.kind === 'chain' || clause.kind === 'has';

/** Whether the clause depends on resources at the other end of a link. */
export const followsLinks = (clause: SearchClause): boolean => isLink(clause) || nestedIn(clause).some(followsLinks);

/** Whether further links follow the link. Then several paths may lead to the same row. */
export const isDeep = (clause: SearchClause): clause is LinkClause => isLink(clause) && followsLinks(clause.clause);

// SQL that follows links. `reached` is SQL of (main_date, resource_key) of the resources at one end.

/** SQL of the `target_hash` to which references of the resources lead, once for each reference. */
export const targetHashesOf = (reached: string, parameterIds: readonly number[], bind: Binder): string =>
  `select l.target_hash from (${reached} offset 0) s cross join lateral (select l.target_hash from reference_link l
where l.resource_key = s.resource_key and l.parameter_id = any(${bind.value(parameterIds)}::integer[]) offset 0) l`;

/** SQL of (main_date, resource_key) of the resources of a type that have one of the `target_hash`es. */
export const resourcesWith = (targetHashes: string, type: string, bind: Binder): string =>
  `select m.main_date, m.resource_key from (${targetHashes} offset 0) h
cross join lateral (select m.main_date, m.resource_key from resource m where m.reference_hash = h.target_hash and m.type = ${bind.value(type)} limit 1) m`;

/** SQL of (main_date, resource_key) of the resources that refer to those reached, once for each reference. */
export const referrersOf = (reached: string, parameterIds: readonly number[], bind: Binder): string =>
  `select l.main_date, l.resource_key from (${reached} offset 0) s
cross join lateral (select r.reference_hash from resource r where r.resource_key = s.resource_key limit 1) t
cross join unnest(${bind.value(parameterIds)}::integer[]) z(parameter_id)
cross join lateral (select l.main_date, l.resource_key from reference_link l where l.target_hash = t.reference_hash and l.parameter_id = z.parameter_id offset 0) l`;
