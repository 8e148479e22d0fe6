import { type ChartEntry, generateChart } from '../chart/chart-generator';
import { type BenchCase } from './bench-case';

const CHART_COUNT = 20;
const CHART_SIZE = 200;

export interface BenchChart {
  readonly patientId: string;
  readonly entries: readonly ChartEntry[];
}

/** The charts of 20 patients: the same bytes on every run. References point to earlier resources of the chart. */
export const CHARTS: readonly BenchChart[] = Array.from({ length: CHART_COUNT }, (_, index) => {
  const chart = generateChart({ seed: index + 1, size: CHART_SIZE, idPrefix: `bench-${index + 1}-` });
  return { patientId: chart.patientId, entries: [...chart.entries] };
});

const ENTRIES: readonly ChartEntry[] = CHARTS.flatMap(({ entries }) => entries);

const OBSERVATIONS: readonly ChartEntry[] = ENTRIES.filter(({ resourceType }) => resourceType === 'Observation');

/** The resources to create: the observations of all charts without their ids, so that the server assigns new ones. */
export const NEW_OBSERVATIONS: readonly string[] = OBSERVATIONS.map(({ id, body }) =>
  body.replace(`"id":${JSON.stringify(id)},`, ''),
);

export const searchQueryOf = (patientId: string): string => `patient=Patient/${patientId}&_count=20`;

export const CREATE: BenchCase = {
  name: 'create',
  expectedStatus: 201,
  operations: 1500,
  requestOf: (n) => ({ method: 'POST', path: '/Observation', body: itemOf(NEW_OBSERVATIONS, n) }),
};

export const READ: BenchCase = {
  name: 'read',
  expectedStatus: 200,
  operations: 3000,
  requestOf: (n) => {
    // A stride without a common factor with the count visits every resource, and never two neighbors in a row.
    const { resourceType, id } = itemOf(ENTRIES, n * 1009);
    return { method: 'GET', path: `/${resourceType}/${id}` };
  },
};

export const SEARCH: BenchCase = {
  name: 'search by reference',
  expectedStatus: 200,
  operations: 1000,
  requestOf: (n) => ({ method: 'GET', path: `/Observation?${searchQueryOf(itemOf(CHARTS, n).patientId)}` }),
};

export const EVERYTHING: BenchCase = {
  name: '$everything',
  expectedStatus: 200,
  operations: 200,
  requestOf: (n) => ({ method: 'GET', path: `/Patient/${itemOf(CHARTS, n).patientId}/$everything` }),
};

let notes = 0;

/** A case of updates. Each PUT has a new content, so it creates a new version after earlier rounds too. */
export const UPDATE: BenchCase = {
  name: 'update',
  expectedStatus: 200,
  operations: 800,
  requestOf: (n) => {
    const { id, body } = itemOf(OBSERVATIONS, n * 7);
    const noted = `${body.slice(0, -1)},"note":[{"text":"bench ${++notes}"}]}`;
    return { method: 'PUT', path: `/Observation/${id}`, body: noted };
  },
};

/** The number of resources of one transaction. */
const BUNDLE_SIZE = 100;

/** Transactions of new observations, each with its own urn. */
export const NEW_BUNDLES: readonly (readonly string[])[] = Array.from({ length: 10 }, (_, bundle) =>
  Array.from({ length: BUNDLE_SIZE }, (_entry, n) => itemOf(NEW_OBSERVATIONS, bundle * BUNDLE_SIZE + n)),
);

const BUNDLE_TEXTS = NEW_BUNDLES.map(bundleTextOf);

export function bundleTextOf(resources: readonly string[]): string {
  const entries = resources.map((resource, n) => {
    const fullUrl = `urn:uuid:00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
    return `{"fullUrl":"${fullUrl}","resource":${resource},"request":{"method":"POST","url":"Observation"}}`;
  });
  return `{"resourceType":"Bundle","type":"transaction","entry":[${entries.join(',')}]}`;
}

export const TRANSACTION: BenchCase = {
  name: 'transaction bundle',
  expectedStatus: 200,
  operations: 100,
  resources: BUNDLE_SIZE,
  requestOf: (n) => ({ method: 'POST', path: '', body: itemOf(BUNDLE_TEXTS, n) }),
};

/** The cases of the suite. Read-only cases come before those that grow the tables. */
export const CASES: readonly BenchCase[] = [READ, SEARCH, EVERYTHING, CREATE, TRANSACTION];

function itemOf<T>(items: readonly T[], n: number): T {
  const item = items[n % items.length];
  if (item === undefined) throw new RangeError('There is nothing to choose from');
  return item;
}
