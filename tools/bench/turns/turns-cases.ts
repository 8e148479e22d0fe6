import { type BenchRequest } from '../bench-case';

/** A request with a large body; the requests of one case are sent in sequence. */
export interface TurnsCase {
  readonly name: string;
  /** @param megabytes of the body */
  readonly requestsOf: (megabytes: number) => readonly BenchRequest[];
}

/** A body may have at most a million values, so bodies near the size limit need longer texts. */
const longText = (megabytes: number): string => (megabytes > 4 ? 'x'.repeat(200) : '');

/** Repeats `item` until the text has this many megabytes. */
function listOf(megabytes: number, item: (n: number, text: string) => object): string {
  const items: string[] = [];
  const text = longText(megabytes);
  for (let length = 0; length < megabytes * 1e6; length += items.at(-1)?.length ?? 0)
    items.push(JSON.stringify(item(items.length, text)));
  return `[${items.join(',')}]`;
}

/**
 * An Observation with many components. Two composite parameters pair the values of each component, and a resource may
 * have at most 20,000 pairs.
 */
const observation = (megabytes: number, shift: number): string =>
  `{"resourceType":"Observation","id":"turns","status":"final","code":{"text":"c"},"component":${listOf(
    megabytes,
    (n, text) => ({
      code: { coding: [{ system: 'http://s', code: `c${n}` }], ...(text === '' ? {} : { text: text.repeat(10) }) },
      valueQuantity: { value: n + shift, unit: 'kg' },
    }),
  )}}`;

const patient = (megabytes: number): string =>
  `{"resourceType":"Patient","id":"turns","identifier":${listOf(megabytes, (n, text) => ({ system: 'http://s', value: `i${n}${text}` }))}}`;

const names = (megabytes: number): string =>
  `{"resourceType":"Patient","id":"turns-names","name":${listOf(megabytes, (n, text) => ({ family: `f${n}${text}`, given: ['a', 'b'] }))}}`;

const questionnaire = (megabytes: number): string =>
  `{"resourceType":"Questionnaire","status":"draft","item":${listOf(megabytes, (n, text) => ({
    linkId: `q${n}`,
    ...(text === '' ? {} : { text }),
    type: 'string',
    ...(n === 0 ? {} : { enableWhen: [{ question: 'q0', operator: 'exists', answerBoolean: true }] }),
  }))}}`;

const bundle = (megabytes: number): string =>
  `{"resourceType":"Bundle","type":"transaction","entry":${listOf(megabytes, (n, text) => ({
    resource: { resourceType: 'Basic', code: { text: `t${n} ${'x'.repeat(1000)}${text.repeat(10)}` } },
    request: { method: 'POST', url: 'Basic' },
  }))}}`;

const patch = (megabytes: number): string =>
  listOf(megabytes, (n, text) => ({ op: 'replace', path: `/identifier/${n % 100}/value`, value: `p${n}${text}` }));

const pathPatch = (operations: number): string =>
  JSON.stringify({
    resourceType: 'Parameters',
    parameter: Array.from({ length: operations }, (_, n) => ({
      name: 'operation',
      part: [
        { name: 'type', valueCode: 'replace' },
        { name: 'path', valueString: `Patient.identifier[${n}].value` },
        { name: 'value', valueString: `p${n}` },
      ],
    })),
  });

/** A document with a long list. In the amended document, the halves of the list have changed places. */
function document(megabytes: number, status: 'completed' | 'amended'): string {
  const values = JSON.parse(listOf(megabytes, (n, text) => [`t${n}${text}`])) as unknown[];
  const half = values.length / 2;
  const shown = status === 'completed' ? values : [...values.slice(half), ...values.slice(0, half)];
  return `{"resourceType":"SDCDocument","id":"turns","status":"${status}","values":${JSON.stringify(shown)}}`;
}

const addendum = (method: string, params: string): BenchRequest =>
  post(
    '/rpc',
    `{"method":"svc.sdc.addendum/${method}","params":{"user":{"resourceType":"User","id":"admin"},${params}}}`,
  );

const TARGET = '"target":{"resourceType":"SDCDocument","id":"turns"}';

const put = (path: string, body: string): BenchRequest => ({ method: 'PUT', path, body });
const post = (path: string, body: string): BenchRequest => ({ method: 'POST', path, body });

/** The cases of the suite: every route that takes a large body. */
export const TURNS_CASES: readonly TurnsCase[] = [
  {
    name: 'create and update an Observation',
    requestsOf: (size) => [0, 1].map((shift) => put('/fhir/Observation/turns', observation(size, shift))),
  },
  {
    name: 'create a Patient, and again',
    requestsOf: (size) => [put('/fhir/Patient/turns', patient(size)), put('/fhir/Patient/turns', patient(size))],
  },
  { name: 'JSON Patch', requestsOf: (size) => [{ method: 'PATCH', path: '/fhir/Patient/turns', body: patch(size) }] },
  {
    name: 'FHIRPath patch of 500 operations',
    requestsOf: () => [{ method: 'PATCH', path: '/fhir/Patient/turns', body: pathPatch(500) }],
  },
  { name: 'create a Patient of many names', requestsOf: (size) => [put('/fhir/Patient/turns-names', names(size))] },
  {
    name: 'read it, as YAML and with _elements',
    requestsOf: () =>
      ['', '?_format=yaml', '?_elements=name', '?_pretty=true'].map((query) => ({
        method: 'GET',
        path: `/fhir/Patient/turns-names${query}`,
      })),
  },
  { name: 'delete it', requestsOf: () => [{ method: 'DELETE', path: '/fhir/Patient/turns-names' }] },
  {
    name: '$validate',
    requestsOf: (size) => [
      post('/fhir/Questionnaire/$validate', questionnaire(size)),
      post('/fhir/$validate', observation(size, 0)),
    ],
  },
  {
    name: 'two snapshots and their amendment',
    requestsOf: (size) => [
      addendum('add-to-history', `"resource":${document(size, 'completed')}`),
      addendum('add-to-history', `"resource":${document(size, 'amended')}`),
      addendum('create-amendment', TARGET),
    ],
  },
  {
    name: 'their list, check and page',
    requestsOf: () => [
      addendum('get-addendums', TARGET),
      addendum('verify', TARGET),
      { method: 'GET', path: '/fhir/SDCDocument/turns/$amendments' },
    ],
  },
  { name: 'transaction', requestsOf: (size) => [post('/fhir', bundle(size))] },
];
