import { type RowHashes } from '../../search-index/extract/row-hashes';
import { type SearchParameter } from '../../search-index/extract/search-parameter';
import { type SearchParameterSet } from '../../search-index/extract/search-parameter-set';

/** Context for reading the parameters of a search. */
export interface SearchScope {
  readonly type: string;
  readonly parameters: SearchParameterSet;
  /** Hashes of the searched database. */
  readonly hashes: RowHashes;
  readonly baseUrl: string;
  /** Epoch milliseconds; `ap` depends on it. */
  readonly now?: number;
  /** Whether unknown parameters are ignored instead of refused. */
  readonly isLenient: boolean;
  /**
   * Remaining effort for chains. A reference to many types branches at each link, and each type reads the values again.
   */
  readonly effort?: { left: number };
  /** Collects parameters in use whose index is incomplete. */
  readonly incomplete?: Set<SearchParameter>;
  /** Collects those of linked resources, if they are listed separately. */
  readonly incompleteElsewhere?: Set<SearchParameter>;
}

/** The scope for linked resources of `type`. */
export function scopeElsewhere(scope: SearchScope, type: string): SearchScope {
  const incomplete = scope.incompleteElsewhere ?? scope.incomplete;
  return { ...scope, type, ...(incomplete === undefined ? {} : { incomplete }) };
}

/** Notes a parameter that is looked up without the parser of clauses. */
export function noteIncomplete(parameter: SearchParameter, { parameters, incomplete }: SearchScope): void {
  if (parameters.isUnfinished(parameter)) incomplete?.add(parameter);
}
