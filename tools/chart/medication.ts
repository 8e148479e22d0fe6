import { type Recording } from './chart';
import { hl7Concept, SYSTEM } from './codes';
import { daysAfter, instantOf, minutesAfter } from './life-time';
import { type Problem } from './problem';
import { isDue, type Visit } from './visit';

/** Yields the prescription for a problem, and sometimes its first dose, given in the clinic. */
export function* prescribe(visit: Visit, { kind, condition }: Problem): Recording {
  const { chart, cast, encounter, start } = visit;
  const { medication, instruction, timesPerDay, supplyDays } = kind.treatment;
  const request = yield* chart.ofPatient('MedicationRequest', {
    status: 'completed',
    intent: 'order',
    category: [hl7Concept('medicationrequest-category', 'outpatient')],
    medicationCodeableConcept: medication,
    subject: cast.patient,
    encounter,
    authoredOn: instantOf(start),
    requester: cast.physician,
    reasonReference: [condition],
    dosageInstruction: [
      {
        text: instruction,
        timing: { repeat: { frequency: timesPerDay, period: 1, periodUnit: 'd' } },
        doseAndRate: [{ doseQuantity: tablets(1) }],
      },
    ],
    dispenseRequest: {
      validityPeriod: { start: instantOf(start), end: instantOf(daysAfter(start, supplyDays)) },
      quantity: tablets(timesPerDay * supplyDays),
      expectedSupplyDuration: { value: supplyDays, unit: 'day', system: SYSTEM.ucum, code: 'd' },
    },
  });
  if (!isDue(visit, 0.25)) return;
  yield* chart.ofPatient('MedicationAdministration', {
    status: 'completed',
    medicationCodeableConcept: medication,
    subject: cast.patient,
    context: encounter,
    effectiveDateTime: instantOf(minutesAfter(start, 10)),
    performer: [{ actor: cast.nurse }],
    reasonReference: [condition],
    request,
    dosage: { text: instruction, dose: tablets(1) },
  });
}

function tablets(value: number): object {
  return { value, unit: 'tablet', system: SYSTEM.ucum, code: '{tbl}' };
}
