/** A search as the compiler takes it: checked, with hashes instead of names. All clauses must hold. */
export interface SearchQuery {
  readonly type: string;
  readonly clauses: readonly SearchClause[];
  readonly count: number;
  /** Where the page begins: the last row of the page before. */
  readonly after?: PagePosition;
}

/** Alternatives of one parameter (comma OR); a repeated parameter is a clause of its own (AND). */
export type SearchClause =
  | { readonly kind: 'id'; readonly ids: readonly string[] }
  | { readonly kind: 'updated'; readonly ranges: readonly InstantRange[] }
  | { readonly kind: 'token'; readonly tokens: readonly { readonly hash: number; readonly systemHash?: number }[] }
  | {
      readonly kind: 'reference';
      readonly links: readonly { readonly targetHash: number; readonly parameterId: number }[];
    };

/** Milliseconds of the epoch, both ends included. */
export interface InstantRange {
  readonly low: number;
  readonly high: number;
}

/** Rows are ordered by main date and key, both descending: neither changes while a client pages. */
export interface PagePosition {
  /** Milliseconds of the epoch. */
  readonly mainDate: number;
  readonly key: number;
}
