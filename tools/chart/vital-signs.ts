import { type Recording } from './chart';
import { concept } from './codes';
import { minutesAfter } from './life-time';
import { codeOf, type Measure, measured, observationOf } from './observation';
import { isDue, type Visit } from './visit';

const SYSTOLIC: Measure = measure('8480-6', 'Systolic blood pressure', 'mm[Hg]', 0, [90, 130]);
const DIASTOLIC: Measure = measure('8462-4', 'Diastolic blood pressure', 'mm[Hg]', 0, [60, 85]);
const BLOOD_PRESSURE = concept('loinc', '85354-9', 'Blood pressure panel with all children optional');
const BODY_TEMPERATURE: Measure = measure('8310-5', 'Body temperature', 'Cel', 1, [36.1, 37.5]);

/** Codes and units of the FHIR vital signs profile: https://hl7.org/fhir/R4/observation-vitalsigns.html */
const SINGLE_SIGNS: readonly Measure[] = [
  measure('8867-4', 'Heart rate', '/min', 0, [60, 100]),
  measure('9279-1', 'Respiratory rate', '/min', 0, [12, 20]),
  BODY_TEMPERATURE,
  measure('29463-7', 'Body weight', 'kg', 1, [50, 95]),
  measure('2708-6', 'Oxygen saturation in Arterial blood', '%', 0, [94, 100]),
];

export function* takeVitalSigns(visit: Visit): Recording {
  const { chart, cast, encounter, start } = visit;
  const taken = { category: 'vital-signs', subject: cast.patient, encounter, performer: cast.nurse } as const;
  const takenAt = minutesAfter(start, 5);
  yield* chart.ofPatient('Observation', {
    ...observationOf({ ...taken, code: BLOOD_PRESSURE, takenAt }),
    component: [SYSTOLIC, DIASTOLIC].map((part) => ({ code: codeOf(part), ...measured(part, usual(visit, part)) })),
  });
  for (const sign of SINGLE_SIGNS) {
    if (!isDue(visit, 0.6)) continue;
    yield* chart.ofPatient('Observation', {
      ...observationOf({ ...taken, code: codeOf(sign), takenAt }),
      ...measured(sign, usual(visit, sign)),
    });
  }
}

/**
 * Yields two temperatures of the patient's parent. The patient took one of them, which is in the patient's compartment
 * by its `performer`. The nurse took the other, which is not:
 * https://hl7.org/fhir/R4/compartmentdefinition-patient.html
 */
export function* takeTemperatureOfParent(visit: Visit): Recording {
  const { chart, cast, start } = visit;
  const ofParent = { category: 'vital-signs', code: codeOf(BODY_TEMPERATURE), subject: cast.parent } as const;
  yield* chart.ofPatient('Observation', {
    ...observationOf({ ...ofParent, takenAt: minutesAfter(start, -90), performer: cast.patient }),
    ...measured(BODY_TEMPERATURE, chart.random.around(37.8, 0.5)),
  });
  yield* chart.ofOthers('Observation', {
    ...observationOf({ ...ofParent, takenAt: minutesAfter(start, 20), performer: cast.nurse }),
    ...measured(BODY_TEMPERATURE, chart.random.around(37.8, 0.5)),
  });
}

function usual({ chart }: Visit, { low, high, unit }: Measure): number {
  const value = chart.random.around((low + high) / 2, (high - low) / 3);
  return unit === '%' ? Math.min(value, 100) : value;
}

function measure(
  loinc: string,
  display: string,
  unit: string,
  digits: number,
  [low, high]: readonly [number, number],
): Measure {
  return { loinc, display, unit, digits, low, high };
}
