import { type SearchParameter } from '../../search-index/extract/search-parameter';
import { type SearchClause, type SortKey } from '../query/search-query';

/** A search parameter, and the number that identifies it in the rows of the search index. */
export interface NamedParameter {
  readonly id: number;
  /** Name of the parameter by type and code, such as `Patient.family`. */
  readonly name: string;
}

export type ParametersOf = (type: string) => readonly SearchParameter[];

/**
 * Names the parameters whose ids the SQL of a search compares. Parameters of tokens are missing: tokens are found by
 * hashes that include their parameter, so their SQL holds no id.
 */
export function namedParameters(
  {
    type,
    clauses,
    sort = [],
  }: { readonly type: string; readonly clauses: readonly SearchClause[]; readonly sort?: readonly SortKey[] },
  parametersOf: ParametersOf,
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
    switch (clause.kind) {
      case 'all':
      case 'any':
        for (const one of clause.clauses) walk(at, one);
        return;
      case 'not':
        walk(at, clause.clause);
        return;
      case 'chain':
      case 'has':
        note(clause.kind === 'chain' ? at : clause.type, clause.parameterIds);
        walk(clause.type, clause.clause);
        return;
      case 'reference':
        note(
          at,
          clause.links.map(({ parameterId }) => parameterId),
        );
        return;
      case 'list':
        note('List', [clause.parameterId]);
        return;
      case 'near':
        note(at, [clause.parameterId]);
        return;
      default:
        if ('parameterIds' in clause) note(at, clause.parameterIds);
    }
  };
  for (const clause of clauses) walk(type, clause);
  for (const { by } of sort) {
    if ('parameterIds' in by) note(type, by.parameterIds);
    if ('parameterId' in by) note(type, [by.parameterId]);
  }
  return [...found].map(([id, name]) => ({ id, name }));
}
