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
}

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
