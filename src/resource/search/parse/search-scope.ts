import { type SearchParameter } from '../extract/search-parameter';
import { type SearchParameterSet } from '../extract/search-parameter-set';

/** What the parameters of a search are read against. */
export interface SearchScope {
  readonly type: string;
  readonly parameters: SearchParameterSet;
  readonly baseUrl: string;
  /** Epoch milliseconds; `ap` depends on it. */
  readonly now?: number;
  /** Whether unknown parameters are ignored instead of refused. */
  readonly isLenient: boolean;
  /** How many more ways chains may take: a reference to many types branches at each of its links. */
  readonly ways?: { left: number };
  /** Takes down the parameters in use whose index is still being built. */
  readonly incomplete?: Set<SearchParameter>;
}
