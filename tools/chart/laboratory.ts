import { type Recording, type Reference } from './chart';
import { concept, hl7Coding } from './codes';
import { instantOf, minutesAfter } from './life-time';
import { codeOf, type Measure, measured, observationOf } from './observation';
import { type Visit } from './visit';

interface Panel {
  readonly loinc: string;
  readonly display: string;
  readonly measures: readonly Measure[];
}

const PANELS: readonly Panel[] = [
  {
    loinc: '51990-0',
    display: 'Basic metabolic panel - Blood',
    measures: [
      {
        loinc: '14749-6',
        display: 'Glucose [Moles/volume] in Serum or Plasma',
        unit: 'mmol/L',
        digits: 2,
        low: 3.9,
        high: 5.6,
      },
      {
        loinc: '2160-0',
        display: 'Creatinine [Mass/volume] in Serum or Plasma',
        unit: 'mg/dL',
        digits: 2,
        low: 0.6,
        high: 1.3,
      },
      {
        loinc: '2951-2',
        display: 'Sodium [Moles/volume] in Serum or Plasma',
        unit: 'mmol/L',
        digits: 0,
        low: 135,
        high: 145,
      },
      {
        loinc: '2823-3',
        display: 'Potassium [Moles/volume] in Serum or Plasma',
        unit: 'mmol/L',
        digits: 1,
        low: 3.5,
        high: 5.1,
      },
    ],
  },
  {
    loinc: '58410-2',
    display: 'CBC panel - Blood by Automated count',
    measures: [
      { loinc: '718-7', display: 'Hemoglobin [Mass/volume] in Blood', unit: 'g/dL', digits: 1, low: 12, high: 17.5 },
      {
        loinc: '6690-2',
        display: 'Leukocytes [#/volume] in Blood by Automated count',
        unit: '10*3/uL',
        digits: 2,
        low: 4.5,
        high: 11,
      },
      {
        loinc: '777-3',
        display: 'Platelets [#/volume] in Blood by Automated count',
        unit: '10*3/uL',
        digits: 0,
        low: 150,
        high: 400,
      },
    ],
  },
  {
    loinc: '24331-1',
    display: 'Lipid 1996 panel - Serum or Plasma',
    measures: [
      {
        loinc: '2093-3',
        display: 'Cholesterol [Mass/volume] in Serum or Plasma',
        unit: 'mg/dL',
        digits: 0,
        low: 125,
        high: 200,
      },
      {
        loinc: '2085-9',
        display: 'Cholesterol in HDL [Mass/volume] in Serum or Plasma',
        unit: 'mg/dL',
        digits: 0,
        low: 40,
        high: 90,
      },
      {
        loinc: '2571-8',
        display: 'Triglyceride [Mass/volume] in Serum or Plasma',
        unit: 'mg/dL',
        digits: 0,
        low: 40,
        high: 150,
      },
    ],
  },
  {
    loinc: '4548-4',
    display: 'Hemoglobin A1c/Hemoglobin.total in Blood',
    measures: [
      { loinc: '4548-4', display: 'Hemoglobin A1c/Hemoglobin.total in Blood', unit: '%', digits: 1, low: 4, high: 5.6 },
    ],
  },
  {
    loinc: '3016-3',
    display: 'Thyrotropin [Units/volume] in Serum or Plasma',
    measures: [
      {
        loinc: '3016-3',
        display: 'Thyrotropin [Units/volume] in Serum or Plasma',
        unit: 'm[IU]/L',
        digits: 2,
        low: 0.4,
        high: 4,
      },
    ],
  },
];

/** Yields an order, its results and the report that contains them. */
export function* runLaboratory({ chart, cast, encounter, start, end }: Visit): Recording {
  const { random } = chart;
  const panel = random.pick(PANELS);
  const code = concept('loinc', panel.loinc, panel.display);
  const order = yield* chart.ofPatient('ServiceRequest', {
    status: 'completed',
    intent: 'order',
    code,
    subject: cast.patient,
    encounter,
    authoredOn: instantOf(start),
    requester: cast.physician,
    performer: [cast.clinic],
  });
  const result: Reference[] = [];
  for (const measure of panel.measures) {
    const { low, high } = measure;
    const frame = { category: 'laboratory', subject: cast.patient, encounter, performer: cast.clinic } as const;
    const observation = yield* chart.ofPatient('Observation', {
      basedOn: [order],
      ...observationOf({ ...frame, code: codeOf(measure), takenAt: minutesAfter(start, 15) }),
      ...measured(measure, random.around((low + high) / 2, (high - low) / 3)),
    });
    result.push(observation);
  }
  yield* chart.ofPatient('DiagnosticReport', {
    basedOn: [order],
    status: 'final',
    category: [{ coding: [hl7Coding('v2-0074', 'LAB')] }],
    code,
    subject: cast.patient,
    encounter,
    effectiveDateTime: instantOf(minutesAfter(start, 15)),
    issued: instantOf(end),
    performer: [cast.clinic],
    result,
  });
}
