import { get, list, store } from './calls';
import { type CurveCase, type Sender } from './curve-case';

/**
 * Numbers of values in a query, and page sizes. A query may have at most 1,000 values, and a page at most 1,000
 * resources.
 */
const VALUES = [62, 250, 1_000];
const MATCHES = [250, 1_000, 4_000];
const PAGES_OF = 1_000;

const stored = new Set<number>();

/** Observations with one code: each has its own patient, a date, a value, and references to four others. */
async function storeMatches(size: number, send: Sender): Promise<void> {
  if (stored.has(size)) return;
  stored.add(size);
  const patients = list(size, (n) => ({
    ...{ resourceType: 'Patient', id: `match-${size}-${n}` },
    name: [{ family: `match-${size}` }],
  }));
  const observations = list(size, (n) => ({
    ...{ resourceType: 'Observation', id: `match-${size}-${n}`, status: 'final' },
    code: { coding: [{ system: 'http://codes', code: `match-${size}` }] },
    subject: { reference: `Patient/match-${size}-${n}` },
    effectiveDateTime: `2020-01-${String(1 + (n % 28)).padStart(2, '0')}`,
    valueQuantity: { value: (n * 7_919) % size, unit: 'kg' },
    hasMember: [1, 2, 3, 4].map((step) => ({ reference: `Observation/match-${size}-${(n * 5 + step) % size}` })),
  }));
  await store(send, [...patients, ...observations]);
}

/** Searches whose cost grows with the number of matches. */
const byMatches = (name: string, queryOf: (code: string) => string): CurveCase => ({
  name: `search: ${name}`,
  sizes: MATCHES,
  setUp: storeMatches,
  request: (size) => get(`/fhir/${queryOf(`match-${size}`)}`),
});

/** Searches whose cost grows with their values, or with the page size. */
const byQuery = (name: string, sizes: readonly number[], queryOf: (size: number) => string): CurveCase => ({
  name: `search: ${name}`,
  sizes,
  setUp: (_, send) => storeMatches(PAGES_OF, send),
  request: (size) => get(`/fhir/${queryOf(size)}`),
});

const CHAIN = 'has-member:Observation.'.repeat(4);
const PAGE = `Observation?code=match-${PAGES_OF}`;
const names = (size: number): string => list(size, (n) => `x${n}`).join(',');

export const SEARCH_CASES: readonly CurveCase[] = [
  byMatches('with its total', (code) => `Observation?code=${code}&_total=accurate`),
  byMatches('several sort keys', (code) => `Observation?code=${code}&_sort=-value-quantity,date,subject`),
  byMatches('text without an index', (code) => `Observation?code=${code}&code:text=none`),
  byMatches('_filter', (code) => `Observation?_filter=code eq ${code} and date gt 2020-01-20`.replaceAll(' ', '%20')),
  byMatches('chain', (code) => `Observation?subject:Patient.name=${code}`),
  byMatches('chain of four', (code) => `Observation?${CHAIN}code=${code}`),
  byMatches('_has', (code) => `Patient?_has:Observation:patient:code=${code}`),
  byQuery('many codes', VALUES, (size) => `Observation?code=${names(size)}`),
  byQuery('not many codes', VALUES, (size) => `Observation?code:not=${names(size)}`),
  byQuery('many ids', VALUES, (size) => `Observation?_id=${names(size)}`),
  byQuery('many names', VALUES, (size) => `Patient?name=${names(size)}`),
  byQuery(
    'many pairs',
    VALUES,
    (size) => `Observation?code-value-quantity=${list(size, (n) => `x${n}$${n}`).join(',')}`,
  ),
  byQuery('page', VALUES, (size) => `${PAGE}&_count=${size}`),
  byQuery('page with _include', VALUES, (size) => `${PAGE}&_count=${size}&_include=Observation:subject`),
  byQuery(
    'page with _revinclude',
    VALUES,
    (size) => `Patient?name=match-${PAGES_OF}&_count=${size}&_revinclude=Observation:subject`,
  ),
  byQuery('names of _elements', [25, 100, 400], (size) => `${PAGE}&_count=500&_elements=${names(size)}`),
];
