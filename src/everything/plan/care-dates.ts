import { type SearchParameterSet } from '../../search-index/extract/search-parameter-set';
import { assertFinished } from '../../search-index/unfinished-index';

/**
 * Types whose care has one date or period, by the code of its search parameter, for the parameters `start` and `end`. A
 * Condition lasts, so it has two. Other types have no care date and are never excluded by it: timeless data (an
 * allergy, a coverage, a family history), persons, and documents of this server.
 */
export const DATED: Readonly<Record<string, readonly string[]>> = {
  period: ['Account', 'Consent', 'MeasureReport'],
  date: [
    ...['AdverseEvent', 'Appointment', 'AuditEvent', 'CarePlan', 'CareTeam', 'ClinicalImpression', 'Composition'],
    ...['DiagnosticReport', 'DocumentReference', 'Encounter', 'EpisodeOfCare', 'Flag', 'Immunization'],
    ...['ImmunizationEvaluation', 'ImmunizationRecommendation', 'Invoice', 'List', 'Observation', 'Procedure'],
    ...['ResearchSubject', 'RiskAssessment', 'Schedule', 'SupplyRequest'],
  ],
  created: [
    ...['Basic', 'Claim', 'ClaimResponse', 'CoverageEligibilityRequest', 'CoverageEligibilityResponse'],
    ...['DocumentManifest', 'ExplanationOfBenefit', 'Media'],
  ],
  occurrence: ['ChargeItem'],
  sent: ['Communication'],
  authored: ['CommunicationRequest', 'QuestionnaireResponse', 'RequestGroup', 'ServiceRequest'],
  identified: ['DetectedIssue'],
  'authored-on': ['DeviceRequest'],
  'start-date': ['Goal'],
  started: ['ImagingStudy'],
  'effective-time': ['MedicationAdministration'],
  whenhandedover: ['MedicationDispense'],
  authoredon: ['MedicationRequest'],
  effective: ['MedicationStatement'],
  datetime: ['NutritionOrder'],
  recorded: ['Provenance'],
  collected: ['Specimen'],
  datewritten: ['VisionPrescription'],
};

/** The parameters of the beginning and the end of a Condition. Without an end, it still continues. */
export const LASTING = { code: 'onset-date', until: 'abatement-date' };

export interface CareDateIds {
  /** Ids of the parameters in DATED. */
  readonly momentIds: readonly number[];
  /** Ids of the parameters for the beginning and for the end of care that lasts. */
  readonly fromIds: readonly number[];
  readonly untilIds: readonly number[];
}

/**
 * @param asked the requested types; undefined if all are requested
 * @throws ServiceError 'busy' while the index of such a parameter is being built
 */
export function careDateIdsOf(parameters: SearchParameterSet, asked?: ReadonlySet<string>): CareDateIds {
  const idsOf = (code: string, types: readonly string[]): readonly number[] =>
    types.flatMap((type) => {
      if (asked?.has(type) === false) return [];
      const parameter = parameters.find(type, code);
      assertFinished(parameter, parameters);
      return parameter?.storedAs ?? [];
    });
  return {
    momentIds: Object.entries(DATED).flatMap(([code, types]) => idsOf(code, types)),
    fromIds: idsOf(LASTING.code, ['Condition']),
    untilIds: idsOf(LASTING.until, ['Condition']),
  };
}
