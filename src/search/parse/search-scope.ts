import { type RowHashes } from '../../search-index/extract/row-hashes';
import { type SearchParameter } from '../../search-index/extract/search-parameter';
import { type SearchParameterSet } from '../../search-index/extract/search-parameter-set';
import { type SearchClause } from '../query/search-query';

export interface SearchScope {
  readonly type: string;
  readonly parameters: SearchParameterSet;
  readonly hashes: RowHashes;
  readonly baseUrl: string;
  /** The current time in epoch milliseconds, for `ap`. */
  readonly now?: number;
  /** Whether unknown parameters are ignored instead of refused. */
  readonly isLenient: boolean;
  /**
   * Effort that chains may still use. A reference to many types branches at each link, and each branch reads the values
   * again.
   */
  readonly effort?: { left: number };
  /**
   * Reads the last word of a chain in a `_filter`, which compares by an operator. If undefined, the search is no
   * `_filter`: the last word is a parameter that may have a modifier.
   */
  readonly readLeaf?: (leaf: string, scope: SearchScope) => SearchClause;
  /** Collects the parameters of the search whose index is incomplete. */
  readonly incomplete?: Set<SearchParameter>;
  /** Collects incomplete parameters of linked resources, if the caller wants these in a separate list. */
  readonly incompleteElsewhere?: Set<SearchParameter>;
}

export function scopeElsewhere(scope: SearchScope, type: string): SearchScope {
  const incomplete = scope.incompleteElsewhere ?? scope.incomplete;
  return { ...scope, type, ...(incomplete === undefined ? {} : { incomplete }) };
}

/**
 * Notes a parameter as used, if its index is incomplete. Used for parameters that are found without
 * {@link parameterOf}.
 */
export function noteIncomplete(parameter: SearchParameter, { parameters, incomplete }: SearchScope): void {
  if (parameters.isUnfinished(parameter)) incomplete?.add(parameter);
}

export interface SentParameter {
  readonly parameter: SearchParameter;
  readonly modifier: string | undefined;
  /** Code and modifier, as errors name the parameter. */
  readonly name: string;
  /** The alternatives, with their escapes. */
  readonly values: readonly string[];
}
