import { type SentResource } from './compartment-oracle';

/**
 * The elements with the time of care of each type, as in docs/reference/everything.md, with their kinds. `until` joins
 * two elements to a span. This table is independent of the server, like the table of the compartment.
 */
const CARE_DATES = `
  Account servicePeriod:period
  AdverseEvent date:dateTime
  Appointment start:instant
  Basic created:date
  CarePlan period:period
  CareTeam period:period
  ChargeItem occurrenceDateTime:dateTime occurrencePeriod:period
  Claim created:dateTime
  ClaimResponse created:dateTime
  ClinicalImpression date:dateTime
  Communication sent:dateTime
  CommunicationRequest authoredOn:dateTime
  Composition date:dateTime
  Condition onsetDateTime:dateTime onsetPeriod:period until abatementDateTime:dateTime abatementPeriod:period
  Consent provision.period:period
  CoverageEligibilityRequest created:dateTime
  CoverageEligibilityResponse created:dateTime
  DetectedIssue identifiedDateTime:dateTime identifiedPeriod:period
  DeviceRequest authoredOn:dateTime
  DiagnosticReport effectiveDateTime:dateTime effectivePeriod:period
  DocumentManifest created:dateTime
  DocumentReference date:instant
  Encounter period:period
  EpisodeOfCare period:period
  ExplanationOfBenefit created:dateTime
  Flag period:period
  Goal startDate:date
  ImagingStudy started:dateTime
  Immunization occurrenceDateTime:dateTime
  ImmunizationEvaluation date:dateTime
  ImmunizationRecommendation date:dateTime
  Invoice date:dateTime
  List date:dateTime
  MeasureReport period:period
  Media createdDateTime:dateTime createdPeriod:period
  MedicationAdministration effectiveDateTime:dateTime effectivePeriod:period
  MedicationDispense whenHandedOver:dateTime
  MedicationRequest authoredOn:dateTime
  MedicationStatement effectiveDateTime:dateTime effectivePeriod:period
  NutritionOrder dateTime:dateTime
  Observation effectiveDateTime:dateTime effectivePeriod:period effectiveInstant:instant
  Procedure performedDateTime:dateTime performedPeriod:period
  Provenance recorded:instant
  QuestionnaireResponse authored:dateTime
  RequestGroup authoredOn:dateTime
  ResearchSubject period:period
  RiskAssessment occurrenceDateTime:dateTime
  Schedule planningHorizon:period
  ServiceRequest authoredOn:dateTime
  Specimen collection.collectedDateTime:dateTime collection.collectedPeriod:period
  SupplyRequest authoredOn:dateTime
  VisionPrescription dateWritten:dateTime`;

export type DateKind = 'date' | 'dateTime' | 'instant' | 'period';

export interface DateElement {
  readonly path: readonly string[];
  readonly kind: DateKind;
}

export interface CareDates {
  /** Alternatives for the time of care, or for its beginning. */
  readonly elements: readonly DateElement[];
  /** Alternatives for the end of care. */
  readonly until: readonly DateElement[];
}

/** The elements with the time of care by type. A type without an entry has no care date. */
export const CARE_DATES_BY_TYPE: ReadonlyMap<string, CareDates> = new Map(
  CARE_DATES.trim()
    .split('\n')
    .map((line) => {
      const [type = '', ...words] = line.trim().split(' ');
      const end = words.includes('until') ? words.indexOf('until') : words.length;
      return [type, { elements: elementsOf(words.slice(0, end)), until: elementsOf(words.slice(end + 1)) }];
    }),
);

function elementsOf(words: readonly string[]): DateElement[] {
  return words.map((word) => {
    const [path = '', kind = ''] = word.split(':');
    return { path: path.split('.'), kind: kind as DateKind };
  });
}

/** A time in epoch milliseconds. Both ends are inclusive. */
export interface Span {
  readonly low: number;
  readonly high: number;
}

/** Whether care of the resource overlaps the time from `start` to `end`; resources without a date always do. */
export function isAboutCareWithin(resource: SentResource, start: string | undefined, end: string | undefined): boolean {
  const dates = CARE_DATES_BY_TYPE.get(resource.resourceType);
  if (dates === undefined) return true;
  const began = spanAt(resource, dates.elements);
  const ended = dates.until.length === 0 ? began : spanAt(resource, dates.until);
  const [from, to] = [
    start === undefined ? -Infinity : spanOf(start).low,
    end === undefined ? Infinity : spanOf(end).high,
  ];
  return (began?.low ?? -Infinity) <= to && (ended?.high ?? Infinity) >= from;
}

function spanAt(resource: SentResource, elements: readonly DateElement[]): Span | undefined {
  for (const { path, kind } of elements) {
    const value = path.reduce<unknown>((one, step) => (one as Record<string, unknown> | undefined)?.[step], resource);
    if (value === undefined) continue;
    if (kind !== 'period') return spanOf(value as string);
    const { start, end } = value as { start?: string; end?: string };
    return {
      low: start === undefined ? -Infinity : spanOf(start).low,
      high: end === undefined ? Infinity : spanOf(end).high,
    };
  }
  return undefined;
}

/** The time that a date covers: the whole day, month or year, in UTC (http://hl7.org/fhir/R4/search.html#date). */
export function spanOf(text: string): Span {
  if (text.includes('T')) {
    const low = Date.parse(text);
    return { low, high: low + (/\.\d+/.test(text) ? 0 : 999) };
  }
  const [year = 0, month, day] = text.split('-').map(Number);
  const low = Date.UTC(year, (month ?? 1) - 1, day ?? 1);
  const next =
    day !== undefined ? low + 86_400_000 : month !== undefined ? Date.UTC(year, month, 1) : Date.UTC(year + 1, 0, 1);
  return { low, high: next - 1 };
}
