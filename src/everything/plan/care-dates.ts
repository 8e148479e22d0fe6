import { type SearchParameterSet } from '../../search-index/extract/search-parameter-set';
import { assertFinished } from '../../search-index/unfinished-index';

/** The search parameters of the time of care that a resource of a type is about. */
export interface CareDate {
  readonly code: string;
  /** The end of what lasts from `code` on; without a value it still lasts. */
  readonly until?: string;
}

/** Types by the search parameter of their care date. */
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

/** That of a Condition, which lasts. */
const LASTING = { code: 'onset-date', until: 'abatement-date' };

/**
 * Care dates by type, for `start` and `end`. Types that are not here have none: what holds at any time (an allergy, the
 * coverage, the history of a family), persons, and documents of this server. They are never left out for a date.
 */
export const CARE_DATES: Readonly<Record<string, CareDate>> = {
  ...Object.fromEntries(Object.entries(DATED).flatMap(([code, types]) => types.map((type) => [type, { code }]))),
  Condition: LASTING,
};

/** The care dates as rows of the date table name them. */
export interface CareDateIds {
  /** Of dates that are the care themselves. */
  readonly momentIds: readonly number[];
  /** Of the beginnings and of the ends of what lasts. */
  readonly fromIds: readonly number[];
  readonly untilIds: readonly number[];
}

/**
 * @param asked types; undefined: all
 * @throws ServiceError 'busy' while the index of one of them is being built
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
