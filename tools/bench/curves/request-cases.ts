import { generateChart } from '../../chart/chart-generator';
import { bundleOf, get, list, post, put, store, type Stored } from './calls';
import { type CurveCase, type Sender } from './curve-case';

const ITEMS = [1_000, 4_000, 16_000];
const ENTRIES = [62, 250, 1_000];

let changes = 0;

const patientOf = (size: number) => ({
  ...{ resourceType: 'Patient', id: `items-${size}` },
  identifier: list(size, (n) => ({ system: 'http://s', value: `i${n}` })),
});
const urlOf = (size: number): string => `/fhir/Patient/items-${size}`;
const storePatient: CurveCase['setUp'] = (size, send) => send(put(urlOf(size), patientOf(size)));

const basicOf = (n: number): object => ({ resourceType: 'Basic', code: { text: `basic ${n}` } });
const entriesOf = (size: number): object[] =>
  list(size, (n) => ({ resource: basicOf(n), request: { method: 'POST', url: 'Basic' } }));
/** Entries that refer to each other: each refers to the next one, which has no id yet. */
const linkedEntriesOf = (size: number): object[] =>
  list(size, (n) => ({
    fullUrl: `urn:uuid:00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
    resource: {
      ...basicOf(n),
      subject: { reference: `urn:uuid:00000000-0000-4000-8000-${String((n + 1) % size).padStart(12, '0')}` },
    },
    request: { method: 'POST', url: 'Basic' },
  }));

const chartOf = (size: number) => generateChart({ seed: size, size, idPrefix: `curve-${size}-` });
const storeChart: CurveCase['setUp'] = (size, send) =>
  store(
    send,
    [...chartOf(size).entries].map(({ body }) => JSON.parse(body) as Stored),
  );

async function storeVersions(size: number, send: Sender): Promise<void> {
  for (let n = 0; n < size; n++) await send(put(`/fhir/Basic/versions-${size}`, basicOf(n)));
}

export const REQUEST_CASES: readonly CurveCase[] = [
  { name: 'read', sizes: ITEMS, setUp: storePatient, request: (size) => get(urlOf(size)) },
  {
    name: 'read with _elements',
    sizes: ITEMS,
    setUp: storePatient,
    request: (size) => get(`${urlOf(size)}?_elements=name`),
  },
  { name: 'read as YAML', sizes: ITEMS, setUp: storePatient, request: (size) => get(`${urlOf(size)}?_format=yaml`) },
  {
    name: 'history of a resource',
    sizes: ENTRIES,
    setUp: storeVersions,
    request: (size) => get(`/fhir/Basic/versions-${size}/_history?_count=1000`),
  },
  { name: 'history of a type', sizes: ENTRIES, request: (size) => get(`/fhir/Basic/_history?_count=${size}`) },
  {
    name: 'JSON Patch, operations',
    sizes: ITEMS,
    setUp: storePatient,
    request: (size) => ({
      ...{ method: 'PATCH', path: urlOf(size) },
      body: list(size, (n) => ({ op: 'replace', path: `/identifier/${n}/value`, value: `p${++changes}` })),
    }),
  },
  {
    name: 'merge patch',
    sizes: ITEMS,
    setUp: storePatient,
    request: (size) => ({
      ...{ method: 'PATCH', path: urlOf(size) },
      body: { name: list(size, () => ({ family: `m${++changes}` })) },
    }),
  },
  {
    name: 'FHIRPath patch, operations',
    sizes: [31, 125, 500],
    setUp: storePatient,
    request: (size) => ({
      ...{ method: 'PATCH', path: urlOf(size) },
      body: {
        resourceType: 'Parameters',
        parameter: list(size, (n) => ({
          name: 'operation',
          part: [
            { name: 'type', valueCode: 'replace' },
            { name: 'path', valueString: `Patient.identifier[${n}].value` },
            { name: 'value', valueString: `f${++changes}` },
          ],
        })),
      },
    }),
  },
  {
    name: 'transaction',
    sizes: [250, 1_000, 4_000],
    request: (size) => post('/fhir', bundleOf('transaction', entriesOf(size))),
  },
  {
    name: 'transaction, linked entries',
    sizes: [250, 1_000, 4_000],
    request: (size) => post('/fhir', bundleOf('transaction', linkedEntriesOf(size))),
  },
  {
    name: 'transaction, conditional entries',
    sizes: ENTRIES,
    request: (size) =>
      post(
        '/fhir',
        bundleOf(
          'transaction',
          list(size, (n) => {
            const value = `conditional-${n}-${++changes}`;
            return {
              resource: { resourceType: 'Basic', code: { text: 'b' }, identifier: [{ value }] },
              request: { method: 'POST', url: 'Basic', ifNoneExist: `identifier=${value}` },
            };
          }),
        ),
      ),
  },
  { name: 'batch', sizes: ENTRIES, request: (size) => post('/fhir', bundleOf('batch', entriesOf(size))) },
  {
    name: 'batch of reads',
    sizes: ENTRIES,
    setUp: storePatient,
    request: (size) =>
      post(
        '/fhir',
        bundleOf(
          'batch',
          list(size, () => ({ request: { method: 'GET', url: 'Patient/items-62' } })),
        ),
      ),
  },
  {
    name: '$everything',
    sizes: [1_250, 5_000, 20_000],
    setUp: storeChart,
    request: (size) => get(`/fhir/Patient/${chartOf(size).patientId}/$everything`),
  },
  {
    name: '$validate, components',
    sizes: ITEMS,
    request: (size) =>
      post('/fhir/Observation/$validate', {
        ...{ resourceType: 'Observation', status: 'final', code: { text: 'c' } },
        component: list(size, (n) => ({ code: { coding: [{ code: `c${n}` }] }, valueQuantity: { value: n } })),
      }),
  },
  {
    name: '$validate, enableWhen',
    sizes: ITEMS,
    request: (size) =>
      post('/fhir/Questionnaire/$validate', {
        ...{ resourceType: 'Questionnaire', status: 'draft' },
        item: list(size, (n) => ({
          ...{ linkId: `q${n}`, type: 'string' },
          ...(n === 0 ? {} : { enableWhen: [{ question: `q${n - 1}`, operator: 'exists', answerBoolean: true }] }),
        })),
      }),
  },
];
