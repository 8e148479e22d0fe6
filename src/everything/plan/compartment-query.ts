import { type Compartment } from '../../resource/compartment/compartments';
import { type RowLimit } from '../../search/rows/row-limit';
import { type CareDateIds } from './care-dates';

/** A period in epoch milliseconds, both ends included; a missing end is open. */
export interface CarePeriod {
  readonly start?: number;
  readonly end?: number;
}

/** Referenced resources that an answer includes (`_include`). */
export interface IncludedTypes {
  /** Types that are included for any reference to them. */
  readonly types: readonly string[];
  /** References, by their parameters, with the types to include. */
  readonly references: readonly { readonly parameterIds: readonly number[]; readonly types: readonly string[] }[];
}

/** A query of a patient compartment: the patient, the selected entries, and the included resources. */
export interface CompartmentQuery {
  readonly patientId: string;
  /** The hash by which links to the patient are found. */
  readonly patientHash: number;
  readonly compartment: Compartment;
  /** Undefined: all types of the compartment. */
  readonly types: ReadonlySet<string> | undefined;
  readonly since: Date | undefined;
  /** The care dates of an entry must overlap it. */
  readonly period: (CarePeriod & CareDateIds) | undefined;
  /** The rows of the compartment that the caller may read; undefined: all. */
  readonly limit: RowLimit | undefined;
  /** The included resources, with the rows that the caller may search. */
  readonly included: (IncludedTypes & { readonly limit: RowLimit | undefined }) | undefined;
}

/** The requested types, sorted, with the parameters that link their resources to the patient. */
export function linksOf({ compartment, types }: CompartmentQuery): readonly (readonly [string, readonly number[]])[] {
  return [...compartment.parameterIdsByType]
    .filter(([type]) => types?.has(type) ?? true)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

export const hasPatient = ({ types }: CompartmentQuery): boolean => types?.has('Patient') ?? true;
