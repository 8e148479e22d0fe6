import { type LosslessNumber } from 'lossless-json';

export interface NativeReference {
  readonly resourceType: string;
  readonly id: string;
}

export interface DocumentAnswer {
  readonly value: number | LosslessNumber;
  readonly unit?: string;
}

export interface SdcDocumentOptions {
  readonly id: string;
  readonly status: string;
  readonly patientId: string;
  readonly encounterId: string;
  readonly authorId: string;
  /** Answers by observation code. */
  readonly answers: Readonly<Record<string, DocumentAnswer>>;
}

export interface SdcDocument {
  readonly resourceType: 'SDCDocument';
  readonly id: string;
  readonly type: string;
  readonly status: string;
  readonly patient: NativeReference;
  readonly encounter: NativeReference;
  readonly author: NativeReference;
  readonly [observationCode: string]: unknown;
}

/** Builds a structured document of vital signs (interface specification, section "SDCDocument / SDCWorkflow"). */
export function sdcDocument({
  id,
  status,
  patientId,
  encounterId,
  authorId,
  answers,
}: SdcDocumentOptions): SdcDocument {
  return {
    resourceType: 'SDCDocument',
    id,
    type: 'clinic.forms/VitalsDocument',
    status,
    patient: { resourceType: 'Patient', id: patientId },
    encounter: { resourceType: 'Encounter', id: encounterId },
    author: { resourceType: 'User', id: authorId },
    ...answers,
  };
}
