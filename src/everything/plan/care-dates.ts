import { type SearchParameterSet } from '../../search-index/extract/search-parameter-set';
import { assertFinished } from '../../search-index/unfinished-index';

/** The search parameters for the time of care of a type's resources. */
export interface CareDate {
  readonly code: string;
  /** Parameter of the end, for care that lasts since `code`; without a value it continues. */
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

/** Care date of a Condition, which lasts. */
const LASTING = { code: 'onset-date', until: 'abatement-date' };

/**
 * Care dates by type, for `start` and `end`. Other types have none and are never excluded by date: timeless data (an
 * allergy, the coverage, the history of a family), persons, and documents of this server.
 */
export const CARE_DATES: Readonly<Record<string, CareDate>> = {
  ...Object.fromEntries(Object.entries(DATED).flatMap(([code, types]) => types.map((type) => [type, { code }]))),
  Condition: LASTING,
};

/** The parameter ids of care dates in rows of the date table. */
export interface CareDateIds {
  /** Ids of dates at which care happens. */
  readonly momentIds: readonly number[];
  /** Ids of the beginnings and ends of lasting care. */
  readonly fromIds: readonly number[];
  readonly untilIds: readonly number[];
}

/**
 * @param asked requested types; undefined: all
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
