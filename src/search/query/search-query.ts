import { type Position } from './great-circle';

/** A search as the compiler takes it: checked, with hashes instead of names. All clauses must hold. */
export interface SearchQuery {
  readonly type: string;
  readonly clauses: readonly SearchClause[];
  /** Empty: by main date, the newest first. */
  readonly sort?: readonly SortKey[];
  readonly count: number;
  /** How many matches stand before the page, when it is reached by its number. */
  readonly offset?: number;
  /** Where the page begins or ends; the first page when absent. */
  readonly position?: PagePosition;
}

/** Alternatives of one parameter (comma OR); a repeated parameter is a clause of its own (AND). */
export type SearchClause =
  | { readonly kind: 'id'; readonly ids: readonly string[] }
  | { readonly kind: 'updated' | 'created'; readonly ranges: readonly InstantRange[] }
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
      /** A reference of the resource leads to one of `type` that the clause holds for. */
      readonly kind: 'chain';
      readonly parameterIds: readonly number[];
      readonly type: string;
      readonly clause: SearchClause;
    }
  | {
      /** A resource of `type` refers to this one, and the clause holds for it. */
      readonly kind: 'has';
      readonly parameterIds: readonly number[];
      readonly type: string;
      readonly clause: SearchClause;
      /** Whether the reference tells the patient that resources of `type` belong to. */
      readonly isByPatient: boolean;
    }
  | { readonly kind: 'list'; readonly listId: string; readonly listHash: number; readonly parameterId: number }
  | { readonly kind: 'all' | 'any'; readonly clauses: readonly SearchClause[] }
  | { readonly kind: 'not'; readonly clause: SearchClause }
  | UnresolvedClause;

/** What takes a look into the database before it can be compiled. */
export type UnresolvedClause = QuantityClause | ValueSetClause;

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
  /** The one patient, when the links tell the patient that the resource belongs to. */
  readonly patientHash?: number;
}

export interface LinkKey {
  readonly targetHash: number;
  readonly parameterId: number;
}

export interface StringClause {
  readonly kind: 'string';
  readonly parameterIds: readonly number[];
  /** Folded texts. */
  readonly match: 'prefix' | 'contains' | 'suffix';
  readonly texts: readonly string[];
}

export interface DateClause {
  readonly kind: 'date';
  readonly parameterIds: readonly number[];
  readonly boxes: readonly DateBox[];
  /** Whether a resource has the date once at most. */
  readonly isSingle: boolean;
  /** Whether it is the main date, and single. */
  readonly isMainDate: boolean;
}

/** What a date row must hold: limits of its beginning and its end, epoch milliseconds, inclusive. */
export interface DateBox {
  readonly lowFrom?: number;
  readonly lowTo?: number;
  readonly highFrom?: number;
  readonly highTo?: number;
}

export interface NumberClause {
  readonly kind: 'number';
  readonly parameterIds: readonly number[];
  /** Of the code that a composite pairs with the number; 0 for a number alone. */
  readonly codeHash: number;
  readonly ranges: readonly NumberRange[];
}

export interface NumberRange {
  readonly low: number;
  readonly high: number;
  readonly isLowOpen: boolean;
  readonly isHighOpen: boolean;
  /** Absent: whatever the unit. */
  readonly unitHash?: number;
}

/** Within a distance of one of several places. */
export interface NearClause {
  readonly kind: 'near';
  readonly parameterId: number;
  readonly places: readonly NearPlace[];
}

export interface NearPlace extends Position {
  readonly meters: number;
}

/** Numbers in units: which rows they mean is told by the units that are stored. */
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
  readonly parameterIds: readonly number[];
}

/** Asked of the stored text itself, where no search row can tell. */
export interface BodyClause {
  readonly kind: 'body';
  /** JSON paths of PostgreSQL, of which one must find something. */
  readonly paths: readonly string[];
  /** A text that the body must contain whatever its case, when one path holds; spares most bodies the parse. */
  readonly hint?: string;
}

/** Asked of the stored text as a reader sees it: one of the lists of texts must occur as a whole, whatever its case. */
export interface WordsClause {
  readonly kind: 'words';
  readonly alternatives: readonly (readonly string[])[];
}

/** Asked of the values that one JSON path finds in the stored text: one of them must pass. */
export interface PathClause {
  readonly kind: 'path';
  /** A JSON path of PostgreSQL. */
  readonly path: string;
  readonly test: PathTest;
  /** As of a {@link BodyClause}. */
  readonly hint?: string;
}

/** One of the texts, numbers or boxes must do. Numbers are decimal texts, so that no digit is lost. */
export type PathTest =
  | { readonly kind: 'exists' }
  | { readonly kind: 'value'; readonly texts: readonly string[]; readonly numbers: readonly string[] }
  | { readonly kind: 'text'; readonly operator: PathOperator; readonly texts: readonly string[] }
  | { readonly kind: 'like'; readonly match: 'contains' | 'starts' | 'ends'; readonly texts: readonly string[] }
  | { readonly kind: 'number'; readonly operator: PathOperator; readonly numbers: readonly string[] }
  | { readonly kind: 'date'; readonly boxes: readonly DateBox[] };

export type PathOperator = 'eq' | 'gt' | 'ge' | 'lt' | 'le';

/** Milliseconds of the epoch, both ends included. */
export interface InstantRange {
  readonly low: number;
  readonly high: number;
}

export interface SortKey {
  readonly by:
    | { readonly kind: 'main-date' | 'updated' | 'created' | 'id' }
    | { readonly kind: 'string' | 'date'; readonly parameterIds: readonly number[] }
    | {
        readonly kind: 'number';
        readonly parameterIds: readonly number[];
        /** The rows of a composite that pair these numbers with the one code that all matches have. */
        readonly paired?: { readonly parameterIds: readonly number[]; readonly codeHash: number };
      }
    | { readonly kind: 'near'; readonly parameterId: number; readonly places: readonly NearPlace[] }
    | { readonly kind: 'body'; readonly paths: readonly string[] }
    | { readonly kind: 'path'; readonly path: string; readonly as: 'text' | 'number' | 'date' };
  readonly isDescending: boolean;
}

/** The row before or after the page, by the values that it is sorted by; opaque to clients. */
export interface PagePosition {
  readonly side: 'after' | 'before';
  /** Instants as epoch milliseconds. */
  readonly values: readonly (string | number | null)[];
  readonly key: number;
}
