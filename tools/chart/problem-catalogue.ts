import { type CodeableConcept, concept, SYSTEM } from './codes';

export interface Treatment {
  readonly medication: CodeableConcept;
  readonly instruction: string;
  readonly timesPerDay: number;
  readonly supplyDays: number;
}

export interface ProblemKind {
  readonly code: CodeableConcept;
  readonly treatment: Treatment;
  /** The goal of a care plan for a chronic problem. */
  readonly goal: string;
}

export const CHRONIC_PROBLEMS: readonly ProblemKind[] = [
  {
    code: problem('38341003', 'Hypertensive disorder', 'I10'),
    treatment: tablets('314076', 'lisinopril 10 MG Oral Tablet', 1, 90),
    goal: 'Blood pressure below 130/80 mm[Hg]',
  },
  {
    code: problem('44054006', 'Type 2 diabetes mellitus', 'E11.9'),
    treatment: tablets('860975', '24 HR metformin hydrochloride 500 MG Extended Release Oral Tablet', 2, 90),
    goal: 'Hemoglobin A1c below 7.0 %',
  },
  {
    code: problem('55822004', 'Hyperlipidemia', 'E78.5'),
    treatment: tablets('314231', 'simvastatin 10 MG Oral Tablet', 1, 90),
    goal: 'LDL cholesterol below 100 mg/dL',
  },
  {
    code: problem('40930008', 'Hypothyroidism', 'E03.9'),
    treatment: tablets('966222', 'levothyroxine sodium 0.075 MG Oral Tablet', 1, 90),
    goal: 'Thyrotropin within the reference range',
  },
];

export const ACUTE_PROBLEMS: readonly ProblemKind[] = [
  {
    code: problem('195662009', 'Acute viral pharyngitis', 'J02.9'),
    treatment: tablets('313782', 'acetaminophen 325 MG Oral Tablet', 3, 7),
    goal: 'Free of symptoms',
  },
  {
    code: problem('75498004', 'Acute bacterial sinusitis', 'J01.90'),
    treatment: tablets('562251', 'amoxicillin 250 MG / clavulanate 125 MG Oral Tablet', 3, 10),
    goal: 'Free of symptoms',
  },
  {
    code: problem('44465007', 'Sprain of ankle', 'S93.409A'),
    treatment: tablets('310965', 'ibuprofen 200 MG Oral Tablet', 3, 7),
    goal: 'Walks without pain',
  },
  {
    code: problem('38822007', 'Cystitis', 'N30.90'),
    treatment: tablets('197511', 'ciprofloxacin 250 MG Oral Tablet', 2, 5),
    goal: 'Free of symptoms',
  },
];

function problem(snomed: string, display: string, icd10: string): CodeableConcept {
  return {
    coding: [...concept('snomed', snomed, display).coding, { system: SYSTEM.icd10, code: icd10 }],
    text: display,
  };
}

function tablets(rxnorm: string, display: string, timesPerDay: number, supplyDays: number): Treatment {
  return {
    medication: concept('rxnorm', rxnorm, display),
    instruction: `1 tablet ${timesPerDay === 1 ? 'once' : `${timesPerDay} times`} a day by mouth`,
    timesPerDay,
    supplyDays,
  };
}
