/** The search index rows of one version of one resource, without duplicates. */
export interface SearchRows {
  /** The start of the clinical date of the resource, in epoch milliseconds; undefined if it has none. */
  readonly mainDate: number | undefined;
  /** Hash of the only patient to whom the resource refers; 0 if it has none, or its type allows several. */
  readonly patientHash: number;
  /** The presence mask: a bit for each search parameter of the type that has a value. */
  readonly present: bigint;
  readonly tokens: readonly TokenRow[];
  readonly references: readonly ReferenceRow[];
  readonly dates: readonly DateRow[];
  readonly numbers: readonly NumberRow[];
  readonly strings: readonly StringRow[];
  /** The distinct units of `numbers`. */
  readonly units: readonly UnitRow[];
}

export interface TokenRow {
  /** Hash of the token, made from the parameter and the code. */
  readonly hash: number;
  /** Hash of the system, signed 32-bit; 0 = no system. */
  readonly systemHash: number;
}

export interface ReferenceRow {
  readonly targetHash: number;
  readonly parameterId: number;
}

export interface DateRow {
  readonly parameterId: number;
  /** Ends of the period in epoch milliseconds, both inclusive. An open end is the earliest or latest year of FHIR. */
  readonly low: number;
  readonly high: number;
}

export interface NumberRow {
  readonly parameterId: number;
  /** Hash of the code that a composite parameter pairs with the number; 0 = none. */
  readonly codeHash: number;
  readonly value: number;
  /** Hash of the unit, signed 32-bit; 0 = no unit. */
  readonly unitHash: number;
}

export interface StringRow {
  readonly parameterId: number;
  readonly valueHash: number;
  /** The text, folded: without case and accents. */
  readonly value: string;
}

/** The unit of a Quantity, as the Quantity names it (http://hl7.org/fhir/R4/datatypes.html#Quantity). */
export interface Unit {
  readonly system?: string;
  readonly code?: string;
  readonly unit?: string;
}

export interface UnitRow extends Unit {
  readonly unitHash: number;
}
