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
  /** The two parts of a composite, in the order of its values. */
  readonly components?: readonly OwnComponent[];
}

/** A part of a composite: the parameter of the same type that it is a value of, and FHIRPath from the composite's item. */
export interface OwnComponent extends ComponentCode {
  readonly expression: string;
}

/** A search parameter of one resource type, ready for indexing and searching. */
export interface SearchParameter {
  readonly type: string;
  readonly code: string;
  readonly kind: SearchParameterKind;
  readonly parameterId: number;
  /** Types that a reference may point at; empty where any will do. */
  readonly targets: readonly string[];
  /**
   * The ids of the parameters whose rows answer a search: its own, or those of others that it narrows or unites
   * (`combo-code`: code and component-code). Empty where a column of the resource answers: `_id`, `_lastUpdated`.
   */
  readonly storedAs: readonly number[];
  /** The only target type that counts among the rows: `patient` is `subject` narrowed to Patient. */
  readonly narrowedTo: string | undefined;
  /**
   * The bits of the presence mask: a value sets at least one. 0n when presence is not recorded, as for composites, which
   * have no `:missing` (http://hl7.org/fhir/R4/search.html#modifiers).
   */
  readonly presenceMask: bigint;
  readonly branches: readonly Branch[];
  /** Whether a stored SearchParameter brings it; false for HL7's parameters and those of modules. */
  readonly isLive: boolean;
  /** The parts of a composite, in the order of its values. */
  readonly composite?: Composite;
}

/** How a composite is indexed and searched. */
export interface Composite {
  /** Code and kind of the parameters that the parts are values of. */
  readonly codes: readonly [ComponentCode, ComponentCode];
  /**
   * The parts of the rows, for each type of item. Undefined when the resource itself is the item and cannot have the
   * second value twice: then both parameters together say the same.
   */
  readonly rows?: readonly CompositeItem[];
  /** A third value, a number: the rows know the first two, the stored text tells whether it is of the same item. */
  readonly third?: ComponentCode;
  /** The rows know the system of the first part's token too, so that it needs no other condition; of live composites alone. */
  readonly knowsSystem?: boolean;
}

export interface ComponentCode {
  readonly code: string;
  readonly kind: SearchParameterKind;
}

export interface CompositeItem {
  /** The way to the items. */
  readonly branch: Branch;
  readonly parts: readonly [CompositePart, CompositePart];
  /** The ways of the second and third part from the resource, as JSON paths; of composites of three parts alone. */
  readonly numberPaths?: NumberPaths;
}

/** JSON paths of PostgreSQL: to the items, and in an item (`@`) to the numbers of the second and the third part. */
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
