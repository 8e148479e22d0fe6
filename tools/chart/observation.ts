import { type LosslessNumber } from 'lossless-json';
import { type Reference } from './chart';
import { type CodeableConcept, concept, hl7Concept, SYSTEM } from './codes';
import { instantOf } from './life-time';
import { decimal } from './random';

/** A measured quantity, its normal range, and its number of decimal digits. */
export interface Measure {
  readonly loinc: string;
  readonly display: string;
  /** UCUM code, also printed as the unit. */
  readonly unit: string;
  readonly digits: number;
  readonly low: number;
  readonly high: number;
}

export interface ObservationFrame {
  readonly category: 'laboratory' | 'vital-signs';
  readonly code: CodeableConcept;
  readonly subject: Reference;
  readonly encounter?: Reference;
  readonly takenAt: Date;
  readonly performer: Reference;
}

/** Builds the members common to all observations; a value or components follow. */
export function observationOf({ category, code, subject, encounter, takenAt, performer }: ObservationFrame): object {
  return {
    status: 'final',
    category: [hl7Concept('observation-category', category)],
    code,
    subject,
    ...(encounter && { encounter }),
    effectiveDateTime: instantOf(takenAt),
    issued: instantOf(takenAt),
    performer: [performer],
  };
}

/** Builds value, interpretation and reference range of one measured number. */
export function measured(measure: Measure, value: number): object {
  return {
    valueQuantity: quantityOf(measure, decimal(value, measure.digits)),
    interpretation: [hl7Concept('v3-ObservationInterpretation', interpretationOf(measure, value))],
    referenceRange: [
      {
        low: quantityOf(measure, decimal(measure.low, measure.digits)),
        high: quantityOf(measure, decimal(measure.high, measure.digits)),
      },
    ],
  };
}

export function codeOf({ loinc, display }: Measure): CodeableConcept {
  return concept('loinc', loinc, display);
}

function quantityOf({ unit }: Measure, value: LosslessNumber): object {
  return { value, unit, system: SYSTEM.ucum, code: unit };
}

function interpretationOf({ low, high }: Measure, value: number): 'L' | 'H' | 'N' {
  if (value < low) return 'L';
  return value > high ? 'H' : 'N';
}
