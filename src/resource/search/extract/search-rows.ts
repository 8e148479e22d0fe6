/** What one version of one resource adds to the search tables. Equal rows stand once. */
export interface SearchRows {
  /** The start of the resource's clinical date in epoch milliseconds; undefined when it has none. */
  readonly mainDate: number | undefined;
  /** The target hash of the one patient the resource belongs to; 0 = none, or its type allows several. */
  readonly patientHash: number;
  /** The presence mask: a bit for each search parameter of the type that has a value. */
  readonly present: bigint;
  readonly tokens: readonly TokenRow[];
  readonly references: readonly ReferenceRow[];
  readonly dates: readonly DateRow[];
  readonly numbers: readonly NumberRow[];
  readonly strings: readonly StringRow[];
  /** The units of `numbers`, each once. */
  readonly units: readonly UnitRow[];
  /** Absent while no index of the type is built or removed. */
  readonly unsettled?: UnsettledRows;
}

/**
 * While the index of a live parameter is built or removed, its rows of a stored version may be there or not: an update
 * cannot go by the difference of two versions.
 */
export interface UnsettledRows {
  /** The rows of all other parameters: those of a stored version are there, exactly. */
  readonly certain: SearchRows;
  /** Rows that may be there. Those of parameters that are built are among the rows to be written too. */
  readonly perhaps: SearchRows;
}

/** The rows of both; all else is that of the first. */
export function joinedRows(rows: SearchRows, more: SearchRows): SearchRows {
  return {
    ...rows,
    tokens: [...rows.tokens, ...more.tokens],
    references: [...rows.references, ...more.references],
    dates: [...rows.dates, ...more.dates],
    numbers: [...rows.numbers, ...more.numbers],
    strings: [...rows.strings, ...more.strings],
    units: [...rows.units, ...more.units],
  };
}

/** Every row of a stored version that is or may be there. */
export const presentRowsOf = (rows: SearchRows): SearchRows =>
  rows.unsettled === undefined ? rows : joinedRows(rows.unsettled.certain, rows.unsettled.perhaps);

export interface TokenRow {
  /** Of the parameter and the code. */
  readonly hash: number;
  /** Signed 32-bit; 0 = no system. */
  readonly systemHash: number;
}

export interface ReferenceRow {
  readonly targetHash: number;
  readonly parameterId: number;
}

export interface DateRow {
  readonly parameterId: number;
  /** Epoch milliseconds, both ends inclusive; open ends lie at the limits of FHIR's years. */
  readonly low: number;
  readonly high: number;
}

export interface NumberRow {
  readonly parameterId: number;
  /** Of the code that a composite pairs with the number; 0 = none. */
  readonly codeHash: number;
  readonly value: number;
  /** Signed 32-bit; 0 = no unit. */
  readonly unitHash: number;
}

export interface StringRow {
  readonly parameterId: number;
  /** Folded: without case and accents. */
  readonly value: string;
}

/** How a Quantity names its unit (http://hl7.org/fhir/R4/datatypes.html#Quantity). */
export interface Unit {
  readonly system?: string;
  readonly code?: string;
  /** The unit as people read it. */
  readonly unit?: string;
}

export interface UnitRow extends Unit {
  readonly unitHash: number;
}
