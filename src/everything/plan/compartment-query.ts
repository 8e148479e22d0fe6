import { type Compartment } from '../../resource/compartment/compartments';
import { type RowLimit } from '../../search/rows/row-limit';
import { type CareDateIds } from './care-dates';

/** A stretch of time in epoch milliseconds, both ends included; open where one is absent. */
export interface CarePeriod {
  readonly start?: number;
  readonly end?: number;
}

/** What entries refer to and an answer adds (`_include`). */
export interface IncludedTypes {
  /** Types that any reference may lead to. */
  readonly types: readonly string[];
  /** References by their parameters, and the types that they may lead to. */
  readonly references: readonly { readonly parameterIds: readonly number[]; readonly types: readonly string[] }[];
}

/** One reading of a patient compartment: of whom, which entries of it, and what is added to them. */
export interface CompartmentQuery {
  readonly patientId: string;
  /** The hash that links to the patient are found by. */
  readonly patientHash: number;
  readonly compartment: Compartment;
  /** Undefined: all of the compartment. */
  readonly types: ReadonlySet<string> | undefined;
  readonly since: Date | undefined;
  /** The care dates of an entry must touch it. */
  readonly period: (CarePeriod & CareDateIds) | undefined;
  /** The rows of the compartment that the caller may read; undefined: all. */
  readonly limit: RowLimit | undefined;
  /** What entries refer to and the answer adds, with the rows of it that the caller may search. */
  readonly included: (IncludedTypes & { readonly limit: RowLimit | undefined }) | undefined;
}

/** The types that are asked for, sorted, with the parameters that link their resources to the patient. */
export function linksOf({ compartment, types }: CompartmentQuery): readonly (readonly [string, readonly number[]])[] {
  return [...compartment.parameterIdsByType]
    .filter(([type]) => types?.has(type) ?? true)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

export const hasPatient = ({ types }: CompartmentQuery): boolean => types?.has('Patient') ?? true;
