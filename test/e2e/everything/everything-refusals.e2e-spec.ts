import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Sent, startTestApp, type TestApp } from '../../../testing/test-app';

interface Outcome {
  readonly resourceType: string;
  readonly issue: readonly { readonly severity: string; readonly code: string; readonly diagnostics: string }[];
}

/** The query, the status of the refusal, and a part of its text. */
type Row = readonly [query: string, status: number, says: RegExp];

const QUERIES: readonly Row[] = [
  ['_since=', 400, /_since/],
  ['_since=yesterday', 400, /_since must be .* such as 20/],
  ['_since=2023-02-30', 400, /_since/],
  ['_since=2023-13-01', 400, /_since/],
  ['_since=2023-01-01T25:00:00Z', 400, /_since/],
  ['_since=2023-01-01T10:00:00Z%2B01:00', 400, /_since/],
  ['_since=1700000000', 400, /_since/],
  ['_since=gt2023-01-01', 400, /_since/],
  ['_since=2023-01-01,2024-01-01', 400, /_since/],
  ['_since=2023-01-01&_since=2023-01-01', 400, /_since is given twice/],
  [`_since=${'2'.repeat(5000)}`, 400, /_since/],
  ['_since=2023-01-01%00', 400, /./],
  ['_since:missing=true', 400, /_since:missing/],
  ['_timeout=', 400, /_timeout/],
  ['_timeout=0', 400, /_timeout/],
  ['_timeout=-1', 400, /_timeout/],
  ['_timeout=1.5', 400, /_timeout/],
  ['_timeout=abc', 400, /_timeout/],
  ['_timeout=1e3', 400, /_timeout/],
  ['_timeout=0x10', 400, /_timeout/],
  ['_timeout=%205', 400, /_timeout/],
  ['_timeout=5s', 400, /_timeout/],
  ['_timeout=5&_timeout=6', 400, /_timeout is given twice/],
  ['_count=', 400, /_count/],
  ['_count=-1', 400, /_count/],
  ['_count=1.5', 400, /_count/],
  ['_count=abc', 400, /_count/],
  ['_count=1e2', 400, /_count/],
  ['_count=5&_count=5', 400, /_count is given twice/],
  ['_count=5&_format=ndjson', 400, /NDJSON|ndjson/],
  ['_cursor=2', 400, /_cursor comes from links.*follow these/],
  ['_cursor=', 400, /_cursor/],
  ['_cursor=00000000-0000-4000-8000-000000000000.-1', 400, /_cursor/],
  ['_cursor=00000000-0000-4000-8000-000000000000.9999999999', 400, /_cursor/],
  ['_cursor=00000000-0000-4000-8000-000000000000.5', 410, /first page again/],
  ['_cursor=00000000-0000-4000-8000-000000000000.5&_type=Flag', 400, /_type and _cursor exclude each other/],
  ['_cursor=00000000-0000-4000-8000-000000000000.5&_format=ndjson', 400, /NDJSON|ndjson/],
  ['_type=', 400, /_type must name/],
  ['_type=,', 400, /_type must name/],
  ['_type=Foo', 400, /_type: "Foo".*CompartmentDefinition/],
  ['_type=observation', 400, /_type: "observation"/],
  ['_type=Practitioner', 400, /_type: "Practitioner" is no type of the Patient compartment/],
  ['_type=Observation,Foo', 400, /_type: "Foo"/],
  ['_type=Observation&_type=Foo', 400, /_type: "Foo"/],
  ['_type=Observation%20Condition', 400, /_type/],
  ['_type=Observation%7CCondition', 400, /_type/],
  [`_type=${'A'.repeat(5000)}`, 400, /_type/],
  ['_type:not=Observation', 400, /_type:not/],
  ['start=', 400, /start/],
  ['start=monday', 400, /start must be .* such as 20/],
  ['start=2023-02-29', 400, /start/],
  ['start=ge2023', 400, /start/],
  ['start=2024&start=2024', 400, /start is given twice/],
  ['start=2024-02&end=2024-01', 400, /start must not be later than end/],
  ['end=', 400, /end/],
  ['end=31.12.2024', 400, /end/],
  ['end=2024-00', 400, /end/],
  ['end=2024T10:00', 400, /end/],
  ['_summary=some', 400, /_summary/],
  ['_summary=true&_summary=data', 400, /_summary/],
  ['_format=xml', 406, /json/],
  ['_format=csv', 406, /json/],
  ['_pretty=perhaps', 400, /_pretty/],
  ['_include=Foo', 400, /_include.*Foo/],
  ['_include=Observation:code', 400, /_include.*Observation:code/],
  ['_include=Observation:nothing', 400, /_include.*Observation:nothing/],
  ['_include=Patient:link:Foo', 400, /_include/],
  ['_include:iterate=*', 400, /_include:iterate/],
  ['_revinclude=*', 400, /_revinclude/],
  ['_manifest=2', 400, /_manifest must be 1 or 0/],
  ['_manifest=1&_format=ndjson', 400, /NDJSON|ndjson/],
  ['_explain=everything', 400, /_explain/],
  ['_summary=count&_format=ndjson', 400, /NDJSON|ndjson/],
  ['_unknown=1', 400, /_unknown.*_since/],
  ['subject=Patient/p', 400, /subject/],
  ['_id=p', 400, /_id/],
  ['_sort=date', 400, /_sort/],
  ['_=1', 400, /"_"/],
  ['%F0%28', 400, /./],
];

const PARAMETERS = { resourceType: 'Parameters' };
const BODIES: readonly (readonly [name: string, body: object | string, status: number, says: RegExp])[] = [
  ['broken JSON', '{"resourceType":"Parameters"', 400, /JSON/],
  ['a form', 'start=2024', 400, /JSON/],
  ['XML', '<Parameters xmlns="http://hl7.org/fhir"/>', 400, /JSON/],
  ['null', 'null', 400, /Parameters/],
  ['a number', '5', 400, /Parameters/],
  ['a list', '[]', 400, /Parameters/],
  ['another resource', { resourceType: 'Patient' }, 400, /Parameters/],
  ['no resourceType', { parameter: [] }, 400, /Parameters/],
  ['a "parameter" that is not a list', { ...PARAMETERS, parameter: { name: 'start' } }, 400, /Parameters/],
  ['a parameter that is null', { ...PARAMETERS, parameter: [null] }, 400, /name/],
  ['a parameter without name', { ...PARAMETERS, parameter: [{ valueDate: '2024' }] }, 400, /name/],
  ['a parameter without value', { ...PARAMETERS, parameter: [{ name: 'start' }] }, 400, /value/],
  [
    'a parameter with two values',
    { ...PARAMETERS, parameter: [{ name: 'start', valueDate: '2024', valueCode: 'x' }] },
    400,
    /one/,
  ],
  ['parts', { ...PARAMETERS, parameter: [{ name: 'start', part: [] }] }, 400, /value/],
  ['a complex value', { ...PARAMETERS, parameter: [{ name: 'start', valuePeriod: {} }] }, 400, /plain/],
  ['a resource', { ...PARAMETERS, parameter: [{ name: 'start', resource: PARAMETERS }] }, 400, /value/],
  ['a wrong date', { ...PARAMETERS, parameter: [{ name: 'start', valueDate: '2024-02-30' }] }, 400, /start/],
  ['a wrong type', { ...PARAMETERS, parameter: [{ name: '_type', valueCode: 'Foo' }] }, 400, /_type/],
  ['an unknown name', { ...PARAMETERS, parameter: [{ name: 'since', valueInstant: '2024' }] }, 400, /since/],
  ['a count of text', { ...PARAMETERS, parameter: [{ name: '_count', valueString: 'ten' }] }, 400, /_count/],
  [
    'a duplicate parameter',
    {
      ...PARAMETERS,
      parameter: [
        { name: 'end', valueDate: '2024' },
        { name: 'end', valueDate: '2024' },
      ],
    },
    400,
    /end is given twice/,
  ],
  ['duplicate keys', '{"resourceType":"Parameters","parameter":[],"parameter":[]}', 400, /parameter/],
  ['a NUL', '{"resourceType":"Parameters","parameter":[{"name":"_type","valueCode":"\\u0000"}]}', 400, /./],
  ['depth', `{"resourceType":"Parameters","parameter":${'['.repeat(100)}${']'.repeat(100)}}`, 400, /64|deep/],
];

describe('Patient/$everything refuses', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp();
    await app.put('/fhir/Patient/p', {});
  });
  afterAll(() => app.close());

  const refused = async (
    method: string,
    path: string,
    status: number,
    says: RegExp,
    sent: Sent = {},
  ): Promise<void> => {
    const answer = await app.send(method, path, sent);
    expect([answer.status, answer.status === status ? '' : answer.text]).toEqual([status, '']);
    const { resourceType, issue } = answer.json<Outcome>();
    expect(resourceType).toBe('OperationOutcome');
    expect(issue[0]?.diagnostics).toMatch(says);
  };
  const PATH = '/fhir/Patient/p/$everything';

  it.each(QUERIES.map(([query, ...rest]) => [query.slice(0, 60), query, ...rest] as const))(
    '?%s',
    async (_name, query, status, says) => {
      await refused('GET', `${PATH}?${query}`, status, says);
      await refused('GET', `/Patient/p/$everything?${query}`, status, says);
    },
  );

  it.each(BODIES)('a POST of %s', async (_name, body, status, says) => {
    await refused('POST', PATH, status, says, { body });
  });

  it.each([
    ['an answer in XML', { Accept: 'application/fhir+xml' }, 406],
    ['an answer in CSV', { Accept: 'text/csv' }, 406],
  ])('%s', async (_name, headers, status) => {
    await refused('POST', PATH, status, /json/, { body: PARAMETERS, headers });
  });

  it('a body that is too large', async () => {
    const parameter = [{ name: '_type', valueString: 'x'.repeat(21 * 1024 * 1024) }];
    await refused('POST', PATH, 413, /./, { body: { ...PARAMETERS, parameter } });
  });

  it.each(['PUT', 'PATCH', 'DELETE'])('%s', async (method) => {
    await refused(method, PATH, 405, /GET/, method === 'DELETE' ? {} : { body: {} });
  });

  const WHERE = /^No such operation here: \$everything is called at \/Patient\/{id}\/\$everything$/;
  it.each([
    ['an unknown patient', '/fhir/Patient/nobody/$everything', 404, /Patient\/nobody/],
    ['a type without compartments', '/fhir/Observation/p/$everything', 404, WHERE],
    ['an invalid id', '/fhir/Patient/a%20b/$everything', 400, /id/],
    ['an id that is too long', `/fhir/Patient/${'a'.repeat(65)}/$everything`, 400, /id/],
    ['all patients', '/fhir/Patient/$everything', 404, WHERE],
    ['the whole server', '/$everything', 404, WHERE],
    [
      'a misspelt operation',
      '/fhir/Patient/p/$everythng',
      404,
      /^No such operation: \$everythng. Did you mean \$everything\?$/,
    ],
    ['an unknown operation', `/fhir/Patient/p/$${'x'.repeat(100)}`, 404, /^No such operation: \$x{64}$/],
  ])('the compartment of %s', async (_name, path, status, says) => {
    await refused('GET', path, status, says);
  });

  it('callers without a token', async () => {
    await refused('GET', PATH, 401, /./, { authorization: null });
  });
});
