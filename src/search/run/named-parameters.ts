import { type SearchParameter } from '../../search-index/extract/search-parameter';
import { nestedIn } from '../query/nested-clauses';
import { type SearchClause, type SearchQuery } from '../query/search-query';

export interface NamedParameter {
  readonly id: number;
  /** Name of the parameter by type and code, such as `Patient.family`. */
  readonly name: string;
}

/**
 * Names the parameters whose ids the SQL of a search compares. Parameters of tokens are missing: tokens are found by
 * hashes that include their parameter, so their SQL holds no id.
 */
export function namedParameters(
  { type, clauses, sort = [] }: Pick<SearchQuery, 'type' | 'clauses' | 'sort'>,
  parametersOf: (type: string) => readonly SearchParameter[],
): readonly NamedParameter[] {
  const found = new Map<number, string>();
  const note = (at: string, ids: readonly number[]): void => {
    const known = parametersOf(at);
    for (const id of ids) {
      const code = known.find(({ parameterId }) => parameterId === id)?.code;
      if (code !== undefined) found.set(id, `${at}.${code}`);
    }
  };
  const walk = (at: string, clause: SearchClause): void => {
    if ('links' in clause) for (const { parameterId } of clause.links) note(at, [parameterId]);
    if ('parameterId' in clause) note(at, [clause.parameterId]);
    if ('parameterIds' in clause) note(clause.kind === 'has' ? clause.type : at, clause.parameterIds);
    const inner = clause.kind === 'chain' || clause.kind === 'has' ? clause.type : at;
    for (const one of nestedIn(clause)) walk(inner, one);
  };
  for (const clause of clauses) walk(type, clause);
  for (const { by } of sort) {
    if ('parameterIds' in by) note(type, by.parameterIds);
    if ('parameterId' in by) note(type, [by.parameterId]);
  }
  return [...found].map(([id, name]) => ({ id, name }));
}
