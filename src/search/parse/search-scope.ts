import { type RowHashes } from '../../search-index/extract/row-hashes';
import { type SearchParameter } from '../../search-index/extract/search-parameter';
import { type SearchParameterSet } from '../../search-index/extract/search-parameter-set';

/** What the parameters of a search are read against. */
export interface SearchScope {
  readonly type: string;
  readonly parameters: SearchParameterSet;
  /** Of the database that is searched. */
  readonly hashes: RowHashes;
  readonly baseUrl: string;
  /** Epoch milliseconds; `ap` depends on it. */
  readonly now?: number;
  /** Whether unknown parameters are ignored instead of refused. */
  readonly isLenient: boolean;
  /**
   * What chains may cost yet, in values that are read: a reference to many types branches at each of its links, and each type
   * reads the values again.
   */
  readonly effort?: { left: number };
  /** Takes down the parameters in use whose index is still being built. */
  readonly incomplete?: Set<SearchParameter>;
  /** Takes down those that are asked of other resources, where these count apart. */
  readonly incompleteElsewhere?: Set<SearchParameter>;
}

/** The scope of what is asked of resources of `type` that a search leads to. */
export function scopeElsewhere(scope: SearchScope, type: string): SearchScope {
  const incomplete = scope.incompleteElsewhere ?? scope.incomplete;
  return { ...scope, type, ...(incomplete === undefined ? {} : { incomplete }) };
}

/** For parameters that are looked up in another way than by the parser of clauses. */
export function noteIncomplete(parameter: SearchParameter, { parameters, incomplete }: SearchScope): void {
  if (parameters.isUnfinished(parameter)) incomplete?.add(parameter);
}
