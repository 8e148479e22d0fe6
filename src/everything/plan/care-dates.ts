import { type SearchParameterSet } from '../../resource/search/extract/search-parameter-set';

/** The search parameters that tell when a resource of a type is about care. */
export interface CareDate {
  readonly code: string;
  /** The end of what lasts from `code` on; without a value it still lasts. */
  readonly until?: string;
}

/**
 * Care dates by type, for `start` and `end`. Types that are not here have none: what holds at any time (an allergy, the
 * coverage, the history of a family), persons, and documents of this server. They are never left out for a date.
 */
export const CARE_DATES: Readonly<Record<string, CareDate>> = {
  Account: { code: 'period' },
  AdverseEvent: { code: 'date' },
  Appointment: { code: 'date' },
  AuditEvent: { code: 'date' },
  Basic: { code: 'created' },
  CarePlan: { code: 'date' },
  CareTeam: { code: 'date' },
  ChargeItem: { code: 'occurrence' },
  Claim: { code: 'created' },
  ClaimResponse: { code: 'created' },
  ClinicalImpression: { code: 'date' },
  Communication: { code: 'sent' },
  CommunicationRequest: { code: 'authored' },
  Composition: { code: 'date' },
  Condition: { code: 'onset-date', until: 'abatement-date' },
  Consent: { code: 'period' },
  CoverageEligibilityRequest: { code: 'created' },
  CoverageEligibilityResponse: { code: 'created' },
  DetectedIssue: { code: 'identified' },
  DeviceRequest: { code: 'authored-on' },
  DiagnosticReport: { code: 'date' },
  DocumentManifest: { code: 'created' },
  DocumentReference: { code: 'date' },
  Encounter: { code: 'date' },
  EpisodeOfCare: { code: 'date' },
  ExplanationOfBenefit: { code: 'created' },
  Flag: { code: 'date' },
  Goal: { code: 'start-date' },
  ImagingStudy: { code: 'started' },
  Immunization: { code: 'date' },
  ImmunizationEvaluation: { code: 'date' },
  ImmunizationRecommendation: { code: 'date' },
  Invoice: { code: 'date' },
  List: { code: 'date' },
  MeasureReport: { code: 'period' },
  Media: { code: 'created' },
  MedicationAdministration: { code: 'effective-time' },
  MedicationDispense: { code: 'whenhandedover' },
  MedicationRequest: { code: 'authoredon' },
  MedicationStatement: { code: 'effective' },
  NutritionOrder: { code: 'datetime' },
  Observation: { code: 'date' },
  Procedure: { code: 'date' },
  Provenance: { code: 'recorded' },
  QuestionnaireResponse: { code: 'authored' },
  RequestGroup: { code: 'authored' },
  ResearchSubject: { code: 'date' },
  RiskAssessment: { code: 'date' },
  Schedule: { code: 'date' },
  ServiceRequest: { code: 'authored' },
  Specimen: { code: 'collected' },
  SupplyRequest: { code: 'date' },
  VisionPrescription: { code: 'datewritten' },
};

/** The care dates as rows of the date table name them. */
export interface CareDateIds {
  /** Of dates that are the care themselves. */
  readonly momentIds: readonly number[];
  /** Of the beginnings and of the ends of what lasts. */
  readonly fromIds: readonly number[];
  readonly untilIds: readonly number[];
}

export function careDateIdsOf(parameters: SearchParameterSet): CareDateIds {
  const idsOf = (type: string, code: string): readonly number[] => parameters.find(type, code)?.storedAs ?? [];
  const dates = Object.entries(CARE_DATES);
  const lasting = dates.filter(([, { until }]) => until !== undefined);
  return {
    momentIds: dates.filter(([, { until }]) => until === undefined).flatMap(([type, { code }]) => idsOf(type, code)),
    fromIds: lasting.flatMap(([type, { code }]) => idsOf(type, code)),
    untilIds: lasting.flatMap(([type, { until = '' }]) => idsOf(type, until)),
  };
}
