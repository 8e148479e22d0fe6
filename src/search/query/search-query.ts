import { type SearchParameter } from '../../search-index/extract/search-parameter';
import { type Position } from './great-circle';

/** A search as the compiler needs it: validated, with hashes instead of names. All clauses must match. */
export interface SearchQuery {
  readonly type: string;
  readonly clauses: readonly SearchClause[];
  /** Keys to sort by. An empty list sorts by main date (the clinical date, else the time of creation), newest first. */
  readonly sort?: readonly SortKey[];
  readonly count: number;
  /** Number of matches before a page that is requested by number. */
  readonly offset?: number;
  /** The position after which the page begins or before which it ends; absent for the first page. */
  readonly position?: PagePosition;
}

/** One parameter of a search: its alternatives are joined by OR (comma), several clauses by AND. */
export type SearchClause =
  | { readonly kind: 'id'; readonly ids: readonly string[] }
  | { readonly kind: 'updated' | 'created'; readonly boxes: readonly DateBox[] }
  | TokenClause
  | ReferenceClause
  | StringClause
  | DateClause
  | NumberClause
  | NearClause
  | { readonly kind: 'presence'; readonly mask: bigint; readonly isPresent: boolean }
  | BodyClause
  | WordsClause
  | PathClause
  | {
      /** Matches if a reference of the resource leads to a resource of `type` that matches `clause`. */
      readonly kind: 'chain';
      readonly parameterIds: readonly number[];
      readonly type: string;
      readonly clause: SearchClause;
    }
  | {
      /** Matches if a resource of `type` refers to this resource and matches `clause`. */
      readonly kind: 'has';
      readonly parameterIds: readonly number[];
      readonly type: string;
      readonly clause: SearchClause;
      /** Whether the reference names the patient of resources of `type`. */
      readonly isByPatient: boolean;
    }
  | { readonly kind: 'all' | 'any'; readonly clauses: readonly SearchClause[] }
  | { readonly kind: 'not'; readonly clause: SearchClause }
  /** These need a database lookup before they are compiled. */
  | QuantityClause
  | ValueSetClause;

export interface TokenClause {
  readonly kind: 'token';
  readonly tokens: readonly TokenKey[];
}

export interface TokenKey {
  readonly hash: number;
  readonly systemHash?: number;
}

export interface ReferenceClause {
  readonly kind: 'reference';
  readonly links: readonly LinkKey[];
  /** The hash of the one patient that the links name, if these links name the patient of the resource. */
  readonly patientHash?: number;
}

export interface LinkKey {
  readonly targetHash: number;
  readonly parameterId: number;
}

export interface StringClause {
  readonly kind: 'string';
  readonly parameterIds: readonly number[];
  /** How the index's texts are compared; `texts` are folded as in the index (without case and accents). */
  readonly match: 'prefix' | 'contains' | 'suffix';
  readonly texts: readonly string[];
}

export interface DateClause {
  readonly kind: 'date';
  readonly parameterIds: readonly number[];
  readonly boxes: readonly DateBox[];
  /** Whether a resource has at most one value of the date. */
  readonly isSingle: boolean;
  /** Whether the date is the main date of its type and has at most one value. */
  readonly isMainDate: boolean;
}

/**
 * Limits for the beginning and the end of the period in a date row, in epoch milliseconds, inclusive. For one moment,
 * both are this moment.
 */
export interface DateBox {
  readonly lowFrom?: number | undefined;
  readonly lowTo?: number | undefined;
  readonly highFrom?: number | undefined;
  readonly highTo?: number | undefined;
}

export interface NumberClause {
  readonly kind: 'number';
  readonly parameterIds: readonly number[];
  /** Hash of the code that a composite pairs with the number; 0 for a number alone. */
  readonly codeHash: number;
  readonly ranges: readonly NumberRange[];
}

export interface NumberRange {
  readonly low: number;
  readonly high: number;
  readonly isLowOpen: boolean;
  readonly isHighOpen: boolean;
  /** Hash of the unit; absent if any unit matches. */
  readonly unitHash?: number;
}

export interface NearClause {
  readonly kind: 'near';
  readonly parameterId: number;
  readonly places: readonly NearPlace[];
}

export interface NearPlace extends Position {
  readonly meters: number;
}

/** Numbers with units. Before the clause is compiled, the range is converted to each stored unit that can match. */
export interface QuantityClause extends Omit<NumberClause, 'kind' | 'ranges'> {
  readonly kind: 'quantity';
  readonly quantities: readonly { readonly ranges: readonly NumberRange[]; readonly unit: UnitKey }[];
}

export interface UnitKey {
  readonly system?: string;
  readonly code: string;
}

export interface ValueSetClause {
  readonly kind: 'value-set';
  readonly url: string;
  readonly parameter: SearchParameter;
}

/** A test of the stored text, for a search that no index row can decide. */
export interface BodyClause {
  readonly kind: 'body';
  /** JSON paths of PostgreSQL. At least one of them must find something. */
  readonly paths: readonly string[];
  /** A text that each matching body contains, in any case; bodies without it are not parsed. */
  readonly hint?: string;
}

/**
 * A test of the readable stored text. `alternatives` are lists of words; all words of one list must occur, in any case.
 */
export interface WordsClause {
  readonly kind: 'words';
  readonly alternatives: readonly (readonly string[])[];
}

/** A test of the values that a JSON path finds in the stored text. At least one value must pass. */
export interface PathClause {
  readonly kind: 'path';
  readonly path: string;
  readonly test: PathTest;
  readonly hint?: string;
}

/**
 * The test of one value: it must match one of the texts, numbers or boxes. Numbers are decimal texts, so that no digit
 * is lost.
 */
export type PathTest =
  | { readonly kind: 'exists' }
  | { readonly kind: 'value'; readonly texts: readonly string[]; readonly numbers: readonly string[] }
  | { readonly kind: 'text'; readonly operator: PathOperator; readonly texts: readonly string[] }
  | { readonly kind: 'like'; readonly match: 'contains' | 'starts' | 'ends'; readonly texts: readonly string[] }
  | { readonly kind: 'number'; readonly operator: PathOperator; readonly numbers: readonly string[] }
  | { readonly kind: 'date'; readonly boxes: readonly DateBox[] };

export type PathOperator = 'eq' | 'gt' | 'ge' | 'lt' | 'le';

export interface SortKey {
  readonly by:
    | { readonly kind: 'main-date' | 'updated' | 'created' | 'id' }
    | { readonly kind: 'string' | 'date'; readonly parameterIds: readonly number[] }
    | {
        readonly kind: 'number';
        readonly parameterIds: readonly number[];
        /** Rows of a composite that pair these numbers with a code, if all matches have this one code. */
        readonly paired?: { readonly parameterIds: readonly number[]; readonly codeHash: number };
      }
    | { readonly kind: 'near'; readonly parameterId: number; readonly places: readonly NearPlace[] }
    | {
        readonly kind: 'path';
        readonly paths: readonly string[];
        /** The kind by which values are compared; others have no place in the order. Any value has a `json`. */
        readonly as: 'json' | 'text' | 'number' | 'date';
      };
  readonly isDescending: boolean;
}

/**
 * The row after or before which the page begins, given by its sort values and its key. Clients get it as an opaque
 * text.
 */
export interface PagePosition {
  readonly side: 'after' | 'before';
  /** The sort values; instants are epoch milliseconds. */
  readonly values: readonly (string | number | null)[];
  readonly key: number;
}
