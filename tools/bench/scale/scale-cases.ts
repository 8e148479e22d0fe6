import { type Random } from '../../chart/random';
import { type SampledResources } from './sampled-resources';

/** A class of searches: the same parameters with other values each time. */
export interface ScaleCase {
  readonly name: string;
  readonly type: string;
  readonly queryOf: (values: SampledResources, random: Random) => string;
  /** The measured part; by default the page. */
  readonly measures?: 'page' | 'total' | 'includes' | 'fiftieth page';
}

/** Types whose resources provide the search values. */
export const SAMPLED = ['Patient', 'Observation', 'Encounter', 'Condition', 'MedicationRequest', 'CarePlan'] as const;

const hasQuantity = (resource: Readonly<Record<string, unknown>>): boolean => 'valueQuantity' in resource;
const code = ['code', 'coding', 0, 'code'] as const;
const subject = ['subject', 'reference'] as const;

/** Two conditions on a date: `ge` a day and `lt` another one some days later, within the period of the charts. */
function between(name: string, random: Random, days: number, firstYear = 2005, lastYear = 2023): string {
  const from = Date.UTC(random.integer(firstYear, lastYear), random.integer(0, 11), random.integer(1, 28));
  return `${name}=ge${day(from)}&${name}=lt${day(from + days * 86_400_000)}`;
}

const day = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** A search with values of one Observation that has a quantity. */
const byQuantity =
  (queryOf: (observation: ReturnType<SampledResources['one']>) => string) =>
  (values: SampledResources): string =>
    queryOf(values.one('Observation', hasQuantity));

/** The classes of docs/performance.md, "Search at scale". */
export const SCALE_CASES: readonly ScaleCase[] = [
  {
    name: 'name prefix',
    type: 'Patient',
    queryOf: (v) => `name=${v.text('Patient', 'name', 0, 'family').slice(0, 4)}`,
  },
  {
    name: 'name:contains',
    type: 'Patient',
    queryOf: (v) => `name:contains=${v.text('Patient', 'name', 0, 'family').slice(1, 5)}`,
  },
  { name: 'birthdate, a year', type: 'Patient', queryOf: (_v, r) => between('birthdate', r, 365, 1940, 2000) },
  {
    name: 'identifier',
    type: 'Patient',
    queryOf: (v) => `identifier=https://clinic.example/ids/mrn|${v.text('Patient', 'identifier', 0, 'value')}`,
  },
  {
    name: 'gender and birthdate',
    type: 'Patient',
    queryOf: (v, r) => `gender=${v.text('Patient', 'gender')}&${between('birthdate', r, 3650, 1940, 2000)}`,
  },
  { name: 'patient', type: 'Observation', queryOf: (v) => `patient=${v.text('Observation', ...subject)}&_sort=-date` },
  {
    name: 'patient, total',
    type: 'Observation',
    measures: 'total',
    queryOf: (v) => `patient=${v.text('Observation', ...subject)}`,
  },
  {
    name: 'patient and code',
    type: 'Observation',
    queryOf: (v) => `patient=${v.text('Observation', ...subject)}&code=${v.text('Observation', ...code)}&_sort=-date`,
  },
  {
    name: 'patient, code, dates',
    type: 'Observation',
    queryOf: (v, r) =>
      `patient=${v.text('Observation', ...subject)}&code=${v.text('Observation', ...code)}&${between('date', r, 365)}`,
  },
  {
    name: 'patient, category',
    type: 'Observation',
    queryOf: (v) => `patient=${v.text('Observation', ...subject)}&category=laboratory`,
  },
  {
    name: 'patient, dates',
    type: 'Observation',
    queryOf: (v, r) => `patient=${v.text('Observation', ...subject)}&${between('date', r, 365)}`,
  },
  {
    name: 'patient, -_lastUpdated',
    type: 'Observation',
    queryOf: (v) => `patient=${v.text('Observation', ...subject)}&_sort=-_lastUpdated`,
  },
  { name: 'code', type: 'Observation', queryOf: (v) => `code=${v.text('Observation', ...code)}&_sort=-date` },
  { name: 'code, page 50', type: 'Observation', measures: 'fiftieth page', queryOf: () => `code=85354-9&_sort=-date` },
  { name: 'code, total', type: 'Condition', measures: 'total', queryOf: (v) => `code=${v.text('Condition', ...code)}` },
  {
    name: 'code, value',
    type: 'Observation',
    queryOf: byQuantity((o) => `code=${o(...code)}&value-quantity=gt${o('valueQuantity', 'value')}&_sort=-date`),
  },
  {
    name: 'value alone',
    type: 'Observation',
    queryOf: (v) => `value-quantity=gt${v.one('Observation', hasQuantity)('valueQuantity', 'value')}`,
  },
  {
    name: 'value with unit alone',
    type: 'Observation',
    queryOf: byQuantity(
      (o) => `value-quantity=gt${o('valueQuantity', 'value')}|http://unitsofmeasure.org|${o('valueQuantity', 'code')}`,
    ),
  },
  {
    name: 'code-value-quantity',
    type: 'Observation',
    queryOf: byQuantity((o) => `code-value-quantity=${o(...code)}$gt${o('valueQuantity', 'value')}`),
  },
  {
    name: 'component-code-value',
    type: 'Observation',
    queryOf: (_v, r) => `component-code-value-quantity=8480-6$gt${r.integer(110, 170)}`,
  },
  { name: 'category', type: 'Observation', queryOf: () => 'category=laboratory&_sort=-date' },
  {
    name: 'category, code',
    type: 'Observation',
    queryOf: byQuantity((o) => `category=${o('category', 0, 'coding', 0, 'code')}&code=${o(...code)}&_sort=-date`),
  },
  {
    name: 'tokens that never meet',
    type: 'Observation',
    queryOf: () => 'category=vital-signs&code=4548-4&_sort=-date',
  },
  { name: 'status, -_lastUpdated', type: 'Observation', queryOf: () => 'status=final&_sort=-_lastUpdated' },
  { name: '_lastUpdated', type: 'Observation', queryOf: () => '_lastUpdated=gt2001-01-01&_sort=_lastUpdated' },
  { name: 'dates', type: 'Observation', queryOf: (_v, r) => `${between('date', r, 30)}&_sort=-date` },
  { name: 'dates, oldest first', type: 'Observation', queryOf: (_v, r) => `${between('date', r, 30)}&_sort=date` },
  { name: 'class, dates', type: 'Encounter', queryOf: (_v, r) => `class=AMB&${between('date', r, 30)}` },
  { name: 'open periods', type: 'CarePlan', queryOf: (_v, r) => between('date', r, 30) },
  { name: 'another date', type: 'Condition', queryOf: (_v, r) => between('recorded-date', r, 10) },
  {
    name: 'code, subject:gender',
    type: 'Condition',
    queryOf: (v) => `code=${v.text('Condition', ...code)}&subject:Patient.gender=female`,
  },
  { name: 'status, subject:gender', type: 'Observation', queryOf: () => 'status=final&subject:Patient.gender=female' },
  {
    name: 'patient.identifier',
    type: 'Observation',
    queryOf: (v) => `patient.identifier=${v.text('Patient', 'identifier', 0, 'value')}`,
  },
  {
    name: 'patient.name',
    type: 'Observation',
    queryOf: (v) => `patient.name=${v.text('Patient', 'name', 0, 'family').slice(0, 5)}`,
  },
  {
    name: '_has code',
    type: 'Patient',
    queryOf: (v) => `_has:Observation:patient:code=${v.text('Observation', ...code)}`,
  },
  {
    name: '_has condition, gender',
    type: 'Patient',
    queryOf: (v) => `_has:Condition:patient:code=${v.text('Condition', ...code)}&gender=female`,
  },
  {
    name: '_include',
    type: 'MedicationRequest',
    measures: 'includes',
    queryOf: (v) =>
      `code=${v.text('MedicationRequest', 'medicationCodeableConcept', 'coding', 0, 'code')}&_include=MedicationRequest:subject`,
  },
  {
    name: '_revinclude',
    type: 'Patient',
    measures: 'includes',
    queryOf: (v) => `_id=${v.text('Patient', 'id')}&_revinclude=Encounter:subject`,
  },
  { name: ':missing', type: 'Observation', queryOf: () => 'value-quantity:missing=true&_sort=-date' },
  { name: ':not', type: 'Observation', queryOf: () => 'category:not=laboratory&_sort=-date' },
  {
    name: 'one of 20 codes',
    type: 'Observation',
    queryOf: (v) => `code=${Array.from({ length: 20 }, () => v.text('Observation', ...code)).join(',')}&_sort=-date`,
  },
  { name: '_sort=family', type: 'Patient', queryOf: () => '_sort=family' },
  { name: '_sort=-birthdate', type: 'Patient', queryOf: () => '_sort=-birthdate' },
  { name: '_sort=birthdate, page 50', type: 'Patient', measures: 'fiftieth page', queryOf: () => '_sort=birthdate' },
  { name: 'gender, _sort=family', type: 'Patient', queryOf: () => 'gender=female&_sort=family' },
  { name: '_sort=-_lastUpdated', type: 'Patient', queryOf: () => '_sort=-_lastUpdated' },
  {
    name: 'code, _sort=value',
    type: 'Observation',
    queryOf: (v) => `code=${v.one('Observation', hasQuantity)(...code)}&_sort=value-quantity`,
  },
];
