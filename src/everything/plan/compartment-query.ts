import { type Compartment } from '../../resource/compartment/compartments';
import { type RowLimit } from '../../search/rows/row-limit';
import { type CareDateIds } from './care-dates';

/** A period in milliseconds since 1970, including both ends. If an end is missing, the period is open there. */
export interface CarePeriod {
  readonly start: number | undefined;
  readonly end: number | undefined;
}

/** The referenced resources that an answer must include (`_include`). */
export interface IncludedTypes {
  /** Types whose resources are included if any entry refers to them. */
  readonly types: readonly string[];
  /** References (by the ids of their search parameters) whose targets are included, with the types of those targets. */
  readonly references: readonly { readonly parameterIds: readonly number[]; readonly types: readonly string[] }[];
}

export interface CompartmentQuery {
  readonly patientId: string;
  /** The hash of a reference to the patient, by which links are found. */
  readonly patientHash: number;
  readonly compartment: Compartment;
  /** The requested types; undefined for all types of the compartment. */
  readonly types: ReadonlySet<string> | undefined;
  readonly since: Date | undefined;
  /** The requested period, which the care dates of an entry must overlap, and the ids of these dates. */
  readonly period: (CarePeriod & CareDateIds) | undefined;
  /** The rows of the compartment that the caller may read; undefined for all rows. */
  readonly limit: RowLimit | undefined;
  /** The resources to include, and the rows of them that the caller may search. */
  readonly included: (IncludedTypes & { readonly limit: RowLimit | undefined }) | undefined;
}

/** Returns the requested types in order, each with the ids of the parameters that link its resources to the patient. */
export function linksOf({ compartment, types }: CompartmentQuery): readonly (readonly [string, readonly number[]])[] {
  return [...compartment.parameterIdsByType]
    .filter(([type]) => types?.has(type) ?? true)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

export const hasPatient = ({ types }: CompartmentQuery): boolean => types?.has('Patient') ?? true;
