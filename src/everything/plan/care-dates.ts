import { type SearchParameterSet } from '../../search-index/extract/search-parameter-set';
import { assertFinished } from '../../search-index/unfinished-index';

/** The search parameters that say when the care recorded by a resource took place. */
export interface CareDate {
  readonly code: string;
  /**
   * For care that lasts, the search parameter of its end; `code` is then its beginning. A resource without an end still
   * continues.
   */
  readonly until?: string;
}

/** Types whose care has one date or period, by the code of its search parameter. */
const DATED: Readonly<Record<string, readonly string[]>> = {
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

/** The care dates of a Condition, which lasts from its onset to its abatement. */
const LASTING = { code: 'onset-date', until: 'abatement-date' };

/**
 * Care dates by type, for the parameters `start` and `end`. Other types have no care date and are never excluded by it:
 * timeless data (an allergy, a coverage, a family history), persons, and documents of this server.
 */
export const CARE_DATES: Readonly<Record<string, CareDate>> = {
  ...Object.fromEntries(Object.entries(DATED).flatMap(([code, types]) => types.map((type) => [type, { code }]))),
  Condition: LASTING,
};

/** The ids that the parameters of care dates have in the rows of the date index. */
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
