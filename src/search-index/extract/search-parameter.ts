import { type SearchParameterKind } from '../../fhir/definitions/definitions';
import { type CompositePart } from './composite-rows';
import { type Branch } from '../../fhirpath/fhirpath';

/** A search parameter of one of the server's own types, which HL7 does not define; `expression` is FHIRPath. */
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
 * A component of a composite: the parameter of the same type whose values it holds, and FHIRPath from the composite's
 * item.
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
   * The ids of the parameters whose rows serve a search: its own, or those that it narrows or unites (`combo-code`:
   * code and component-code). Empty if a column of the resource serves it: `_id`, `_lastUpdated`.
   */
  readonly storedAs: readonly number[];
  /** The only target type that counts in the rows: `patient` is `subject` narrowed to Patient. */
  readonly narrowedTo: string | undefined;
  /**
   * The bits of the presence mask; a value sets at least one. 0n if presence is not recorded, as for composites, which
   * have no `:missing` (http://hl7.org/fhir/R4/search.html#modifiers).
   */
  readonly presenceMask: bigint;
  readonly branches: readonly Branch[];
  /** True if a stored SearchParameter defines it; false for parameters of HL7 and of modules. */
  readonly isLive: boolean;
  /** The components of a composite, in the order of its values. */
  readonly composite?: Composite;
}

/** How a composite is indexed and searched. */
export interface Composite {
  /** Code and kind of the parameters whose values the components hold. */
  readonly codes: readonly [ComponentCode, ComponentCode];
  /**
   * The components in the rows, for each type of item. Undefined if the resource itself is the item and has the second
   * value at most once: then both parameters together are equivalent.
   */
  readonly rows?: readonly CompositeItem[];
  /** A third value, a number. Rows hold the first two; the stored text shows whether it belongs to the same item. */
  readonly third?: ComponentCode;
  /**
   * Whether the rows also hold the system of the first component's token, so that no other condition is needed; for
   * live composites only.
   */
  readonly knowsSystem?: boolean;
}

export interface ComponentCode {
  readonly code: string;
  readonly kind: SearchParameterKind;
}

export interface CompositeItem {
  /** The path to the items. */
  readonly branch: Branch;
  readonly parts: readonly [CompositePart, CompositePart];
  /** JSON paths of the second and third component; only for composites of three components. */
  readonly numberPaths?: NumberPaths;
}

/** JSON paths of PostgreSQL: to the items, and in an item (`@`) to the numbers of the second and third component. */
export interface NumberPaths {
  readonly item: string;
  readonly second: readonly string[];
  readonly third: readonly string[];
}

/** A parameter that cannot be searched, and why. */
export interface UnusableParameter {
  readonly type: string;
  readonly code: string;
  readonly reason: string;
}
