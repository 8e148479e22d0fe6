/** Code systems by the canonical address that HL7 gives them: https://hl7.org/fhir/R4/terminologies-systems.html */
export const SYSTEM = {
  cvx: 'http://hl7.org/fhir/sid/cvx',
  icd10: 'http://hl7.org/fhir/sid/icd-10-cm',
  loinc: 'http://loinc.org',
  rxnorm: 'http://www.nlm.nih.gov/research/umls/rxnorm',
  snomed: 'http://snomed.info/sct',
  ucum: 'http://unitsofmeasure.org',
} as const;

export interface Coding {
  readonly system: string;
  readonly code: string;
  readonly display?: string;
}

export interface CodeableConcept {
  readonly coding: readonly Coding[];
  readonly text?: string;
}

/** Builds a concept of one clinical code, with its display as the text that people read. */
export function concept(system: keyof typeof SYSTEM, code: string, display: string): CodeableConcept {
  return { coding: [{ system: SYSTEM[system], code, display }], text: display };
}

/** Builds a concept of one of HL7's own code systems, whose addresses share a root. */
export function hl7Concept(codeSystem: string, code: string): CodeableConcept {
  return { coding: [hl7Coding(codeSystem, code)] };
}

export function hl7Coding(codeSystem: string, code: string): Coding {
  return { system: `http://terminology.hl7.org/CodeSystem/${codeSystem}`, code };
}
