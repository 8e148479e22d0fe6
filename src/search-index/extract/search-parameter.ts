import { type SearchParameterKind } from '../../fhir/definitions/definitions';
import { type CompositePart } from './composite-rows';
import { type Branch } from '../../fhirpath/fhirpath';

/** Codes that modules and stored SearchParameters add. Modifiers and chains need the other signs. */
export const PARAMETER_CODE = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
export const CODE_RULE = 'must begin with a letter, followed by letters, digits, "-" or "_", 64 at most';

/** A search parameter that this server adds to HL7's, for one resource type. `expression` is FHIRPath. */
export interface OwnSearchParameter {
  readonly type: string;
  readonly code: string;
  readonly kind: SearchParameterKind;
  readonly expression: string;
  readonly targets?: readonly string[];
  /** The two components of a composite, in the order of its values. */
  readonly components?: readonly OwnComponent[];
}

/**
 * A component of a composite: the parameter of the same type whose values the component holds, and a FHIRPath that
 * leads to them from the item of the composite.
 */
export interface OwnComponent extends ComponentCode {
  readonly expression: string;
}

/** A search parameter of one resource type, ready for indexing and searching. */
export interface SearchParameter {
  readonly type: string;
  readonly code: string;
  readonly kind: SearchParameterKind;
  readonly parameterId: number;
  /** Target types of a reference; empty if any type is allowed. */
  readonly targets: readonly string[];
  /**
   * The ids of the parameters whose rows serve a search. These are the parameter's own rows, or those of the parameters
   * that it narrows or unites (`combo-code`: code and component-code). Empty if a column of the resource serves the
   * search: `_id`, `_lastUpdated`.
   */
  readonly storedAs: readonly number[];
  /** The only target type that counts in these rows: `patient` is `subject` narrowed to Patient. */
  readonly narrowedTo: string | undefined;
  /**
   * The bits in the presence mask of a resource; at least one is set if the parameter has a value. 0n if the mask does
   * not record the parameter. This is so for composites, which have no `:missing`
   * (http://hl7.org/fhir/R4/search.html#modifiers).
   */
  readonly presenceMask: bigint;
  readonly branches: readonly Branch[];
  /** Whether a stored SearchParameter defines the parameter; false for parameters of HL7 and of modules. */
  readonly isLive: boolean;
  readonly composite?: Composite;
}

export interface Composite {
  readonly codes: readonly [ComponentCode, ComponentCode];
  /**
   * The components in the rows, for each type of item. Undefined if the resource itself is the item and has the second
   * value at most once: a search by the two parameters of the components then finds the same resources.
   */
  readonly rows?: readonly CompositeItem[];
  /**
   * The third component, a number. Rows hold the first two; the stored text shows whether the third belongs to the same
   * item.
   */
  readonly third?: ComponentCode;
  /**
   * Whether the rows also hold the system of the first component's token, so that the search needs no other test of it.
   * Only composites that a stored SearchParameter defines have it.
   */
  readonly hasSystem?: boolean;
}

export interface ComponentCode {
  readonly code: string;
  readonly kind: SearchParameterKind;
}

export interface CompositeItem {
  readonly branch: Branch;
  readonly parts: readonly [CompositePart, CompositePart];
  /** JSON paths of the second and third component; only for composites of three components. */
  readonly numberPaths?: NumberPaths;
}

/**
 * JSON paths of PostgreSQL: to the items, and inside an item (`@`) to the numbers of its second and third component.
 */
export interface NumberPaths {
  readonly item: string;
  readonly second: readonly string[];
  readonly third: readonly string[];
}

export interface UnusableParameter {
  readonly type: string;
  readonly code: string;
  readonly reason: string;
}
