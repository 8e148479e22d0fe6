import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BASE_URL, type Received, startTestApp, type TestApp } from '../../../testing/test-app';

/** An interaction of the resource API (http://hl7.org/fhir/R4/http.html), with its request and its response. */
interface Row {
  readonly fact: string;
  readonly send: readonly [method: string, path: string];
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  readonly status: number;
  /** Headers of the response; a RegExp for values that the server chooses. */
  readonly answers?: Readonly<Record<string, string | RegExp>>;
  /** Members of the response body; `null` for an empty body. */
  readonly shows?: object | null;
}

const MERGE = { 'Content-Type': 'application/merge-patch+json' };
const patient = (family: string, more: object = {}): object => ({
  resourceType: 'Patient',
  name: [{ family }],
  ...more,
});
const outcome = (code: string): object => ({
  resourceType: 'OperationOutcome',
  id: code,
  issue: [{ severity: 'fatal', code }],
});
const HTTP_DATE = /^\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** The tested interactions, in the order in which they run. `{base}` is the root of the request. */
const INTERACTIONS: readonly Row[] = [
  {
    fact: 'create returns 201, the stored resource, and the location of its version',
    send: ['POST', '/Patient'],
    body: patient('A', { id: 'a', identifier: [{ value: 'a' }] }),
    status: 201,
    answers: {
      location: '{base}/Patient/a/_history/1',
      etag: 'W/"1"',
      'last-modified': HTTP_DATE,
      'content-type': 'application/fhir+json; charset=utf-8',
    },
    shows: { resourceType: 'Patient', id: 'a', meta: { versionId: '1' }, name: [{ family: 'A' }] },
  },
  {
    fact: 'create without an id gets an id from the server',
    send: ['POST', '/Patient'],
    body: patient('B'),
    status: 201,
    answers: { location: /\/Patient\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\/_history\/1$/ },
  },
  {
    fact: 'create with a duplicate id is 409',
    send: ['POST', '/Patient'],
    body: patient('A', { id: 'a' }),
    status: 409,
    shows: outcome('duplicate'),
  },
  {
    fact: 'create of an invalid resource is 422 and names the element',
    send: ['POST', '/Patient'],
    body: { resourceType: 'Patient', name: 'A' },
    status: 422,
    shows: { issue: [{ severity: 'fatal', expression: ['Patient.name'] }] },
  },
  {
    fact: 'conditional create without a match creates',
    send: ['POST', '/Patient'],
    headers: { 'If-None-Exist': 'identifier=c' },
    body: patient('C', { identifier: [{ value: 'c' }] }),
    status: 201,
  },
  {
    fact: 'conditional create with one match returns it',
    send: ['POST', '/Patient?identifier=a'],
    body: patient('A'),
    status: 200,
    answers: { location: '{base}/Patient/a/_history/1', etag: 'W/"1"' },
    shows: { id: 'a' },
  },
  {
    fact: 'conditional create with several matches is 412',
    send: ['POST', '/Patient'],
    headers: { 'If-None-Exist': 'identifier=a,c' },
    body: patient('A'),
    status: 412,
    shows: outcome('multiple-matches'),
  },
  {
    fact: 'read returns the resource with its version',
    send: ['GET', '/Patient/a'],
    status: 200,
    answers: { etag: 'W/"1"', 'last-modified': HTTP_DATE },
    shows: { id: 'a', meta: { versionId: '1' } },
  },
  {
    fact: 'read with the ETag of the stored version is 304 without a body',
    send: ['GET', '/Patient/a'],
    headers: { 'If-None-Match': 'W/"1"' },
    status: 304,
    answers: { etag: 'W/"1"' },
    shows: null,
  },
  { fact: 'read of an unknown id is 404', send: ['GET', '/Patient/never'], status: 404, shows: outcome('not-found') },
  { fact: 'read of an unknown type is 404', send: ['GET', '/Nothing/a'], status: 404, shows: outcome('not-found') },
  {
    fact: 'update of a stored resource returns 200 and its next version',
    send: ['PUT', '/Patient/a'],
    headers: { 'If-Match': 'W/"1"' },
    body: patient('A2', { identifier: [{ value: 'a' }] }),
    status: 200,
    answers: { etag: 'W/"2"', 'last-modified': HTTP_DATE },
    shows: { id: 'a', meta: { versionId: '2' } },
  },
  {
    fact: 'update with the same content creates no version',
    send: ['PUT', '/Patient/a'],
    body: patient('A2', { identifier: [{ value: 'a' }] }),
    status: 200,
    answers: { etag: 'W/"2"' },
  },
  {
    fact: 'update with an If-Match of another version is 412',
    send: ['PUT', '/Patient/a'],
    headers: { 'If-Match': '1' },
    body: patient('A3'),
    status: 412,
    shows: outcome('conflict'),
  },
  {
    fact: 'update of an unknown id with If-Match: * is 412',
    send: ['PUT', '/Patient/d'],
    headers: { 'If-Match': '*' },
    body: patient('D'),
    status: 412,
    shows: outcome('conflict'),
  },
  {
    fact: 'update of an unknown id creates the resource',
    send: ['PUT', '/Patient/d'],
    body: patient('D'),
    status: 201,
    answers: { location: '{base}/Patient/d/_history/1', etag: 'W/"1"' },
  },
  {
    fact: 'update with another id in the body is 400',
    send: ['PUT', '/Patient/d'],
    body: patient('D', { id: 'other' }),
    status: 400,
    shows: outcome('invalid'),
  },
  {
    fact: 'conditional update without a match creates with the id of the body',
    send: ['PUT', '/Patient?identifier=e'],
    body: patient('E', { id: 'e', identifier: [{ value: 'e' }] }),
    status: 201,
    answers: { location: '{base}/Patient/e/_history/1' },
  },
  {
    fact: 'conditional update replaces the one match',
    send: ['PUT', '/Patient?identifier=e'],
    body: patient('E2', { identifier: [{ value: 'e' }] }),
    status: 200,
    answers: { etag: 'W/"2"' },
    shows: { id: 'e' },
  },
  {
    fact: 'conditional update with several matches is 412',
    send: ['PUT', '/Patient?identifier=a,e'],
    body: patient('E'),
    status: 412,
    shows: outcome('multiple-matches'),
  },
  {
    fact: 'patch returns the patched resource',
    send: ['PATCH', '/Patient/a'],
    headers: MERGE,
    body: { active: true },
    status: 200,
    answers: { etag: 'W/"3"' },
    shows: { id: 'a', active: true },
  },
  {
    fact: 'patch that changes nothing creates no version',
    send: ['PATCH', '/Patient/a'],
    headers: MERGE,
    body: { active: true },
    status: 200,
    answers: { etag: 'W/"3"' },
  },
  {
    fact: 'conditional patch patches the one match',
    send: ['PATCH', '/Patient?identifier=e'],
    headers: MERGE,
    body: { active: false },
    status: 200,
    shows: { id: 'e', active: false },
  },
  {
    fact: 'conditional patch without a match is 404',
    send: ['PATCH', '/Patient?identifier=none'],
    headers: MERGE,
    body: { active: false },
    status: 404,
    shows: outcome('not-found'),
  },
  {
    fact: 'vread returns an earlier version',
    send: ['GET', '/Patient/a/_history/1'],
    status: 200,
    answers: { etag: 'W/"1"' },
    shows: { meta: { versionId: '1' }, name: [{ family: 'A' }] },
  },
  {
    fact: 'vread of a version with a leading zero is 404',
    send: ['GET', '/Patient/a/_history/01'],
    status: 404,
    shows: outcome('not-found'),
  },
  {
    fact: 'vread of an unknown version is 404',
    send: ['GET', '/Patient/a/_history/9'],
    status: 404,
    shows: outcome('not-found'),
  },
  {
    fact: 'return=minimal leaves the body out',
    send: ['PUT', '/Patient/d'],
    headers: { Prefer: 'return=minimal' },
    body: patient('D2'),
    status: 200,
    answers: { etag: 'W/"2"', 'preference-applied': 'return=minimal' },
    shows: null,
  },
  {
    fact: 'return=OperationOutcome returns an OperationOutcome',
    send: ['PUT', '/Patient/d'],
    headers: { Prefer: 'return=OperationOutcome' },
    body: patient('D3'),
    status: 200,
    answers: { 'preference-applied': 'return=OperationOutcome' },
    shows: {
      resourceType: 'OperationOutcome',
      issue: [{ severity: 'information', diagnostics: 'Stored: version 3.' }],
    },
  },
  {
    fact: 'history lists the versions, newest first',
    send: ['GET', '/Patient/d/_history'],
    status: 200,
    shows: {
      type: 'history',
      total: 3,
      entry: [
        { fullUrl: '{base}/Patient/d', request: { method: 'PUT', url: 'Patient/d' }, response: { etag: 'W/"3"' } },
        { resource: { meta: { versionId: '2' } } },
        { resource: { meta: { versionId: '1' } }, response: { status: '201 Created' } },
      ],
    },
  },
  {
    fact: 'search returns a searchset with links, fullUrls and modes',
    send: ['GET', '/Patient?_id=a&_count=1'],
    status: 200,
    shows: {
      resourceType: 'Bundle',
      type: 'searchset',
      total: 1,
      link: [
        { relation: 'self', url: '{base}/Patient?_id=a&_count=1' },
        { relation: 'first', url: '{base}/Patient?_id=a&_count=1' },
      ],
      entry: [{ fullUrl: '{base}/Patient/a', resource: { id: 'a' }, search: { mode: 'match' } }],
    },
  },
  {
    fact: 'search without a match has a total of 0 and no entry',
    send: ['GET', '/Patient?_id=never'],
    status: 200,
    shows: { total: 0 },
  },
  {
    fact: 'search with an unknown parameter is 400 and names the nearest one',
    send: ['GET', '/Patient?famly=A'],
    status: 400,
    shows: { issue: [{ diagnostics: 'Patient has no search parameter "famly". Did you mean "family"?' }] },
  },
  {
    fact: 'search ignores parameters without a value',
    send: ['GET', '/Patient?_id=a&family=&_count=1'],
    status: 200,
    shows: { total: 1, link: [{ url: '{base}/Patient?_id=a&_count=1' }, {}] },
  },
  {
    fact: 'search with _explain returns the SQL statement and its plan',
    send: ['GET', '/Patient?_id=a&_explain=1'],
    status: 200,
    shows: { total: 1, query: expect.any(Array), plan: expect.stringContaining('actual') },
  },
  {
    fact: 'search in the compartment of a patient accepts parameters',
    send: ['GET', '/Patient/a/Observation?code=x'],
    status: 200,
    shows: { type: 'searchset', total: 0 },
  },
  {
    fact: 'delete with an If-Match of another version is 412',
    send: ['DELETE', '/Patient/d'],
    headers: { 'If-Match': 'W/"1"' },
    status: 412,
    shows: outcome('conflict'),
  },
  {
    fact: 'delete returns 200 with the deleted resource',
    send: ['DELETE', '/Patient/d'],
    headers: { 'If-Match': 'W/"3"' },
    status: 200,
    shows: { id: 'd', meta: { versionId: '3' } },
  },
  { fact: 'delete of a deleted resource is 204', send: ['DELETE', '/Patient/d'], status: 204, shows: null },
  { fact: 'delete of an unknown id is 204', send: ['DELETE', '/Patient/never'], status: 204, shows: null },
  { fact: 'read of a deleted resource is 410', send: ['GET', '/Patient/d'], status: 410, shows: outcome('deleted') },
  {
    fact: 'delete with _no-content=true is 204',
    send: ['DELETE', '/Patient/a?_no-content=true'],
    status: 204,
    shows: null,
  },
  { fact: 'conditional delete without a match is 204', send: ['DELETE', '/Patient?identifier=none'], status: 204 },
  {
    fact: 'conditional delete with several matches is 412',
    send: ['DELETE', '/Patient?identifier=c,e'],
    status: 412,
    shows: outcome('multiple-matches'),
  },
  {
    fact: 'conditional delete with several matches is allowed by x-conditional-delete: remove-all',
    send: ['DELETE', '/Patient?identifier=c,e'],
    headers: { 'x-conditional-delete': 'remove-all' },
    status: 200,
    shows: { resourceType: 'OperationOutcome', issue: [{ severity: 'information' }] },
  },
  {
    fact: 'a transaction returns a response for each entry, in order',
    send: ['POST', ''],
    body: {
      resourceType: 'Bundle',
      type: 'transaction',
      entry: [{ request: { method: 'PUT', url: 'Patient/t' }, resource: patient('T') }],
    },
    status: 200,
    shows: {
      type: 'transaction-response',
      entry: [{ response: { status: '201 Created', location: 'Patient/t/_history/1', etag: 'W/"1"' } }],
    },
  },
  {
    fact: 'a batch processes each entry independently',
    send: ['POST', ''],
    body: {
      resourceType: 'Bundle',
      type: 'batch',
      entry: [{ request: { method: 'GET', url: 'Patient/t' } }, { request: { method: 'GET', url: 'Patient/never' } }],
    },
    status: 200,
    shows: {
      type: 'batch-response',
      entry: [{ response: { status: '200 OK' } }, { response: { status: '404 Not Found' } }],
    },
  },
  {
    fact: '/metadata is public, and names this root',
    send: ['GET', '/metadata'],
    headers: { Authorization: '' },
    status: 200,
    shows: { resourceType: 'CapabilityStatement', status: 'active', kind: 'instance', rest: [{ mode: 'server' }] },
  },
  {
    fact: '/metadata?mode=terminology returns the TerminologyCapabilities',
    send: ['GET', '/metadata?mode=terminology'],
    status: 200,
    shows: { resourceType: 'TerminologyCapabilities', kind: 'instance' },
  },
  {
    fact: '$version returns the release of the server',
    send: ['GET', '/$version'],
    status: 200,
    shows: { version: expect.any(String) },
  },
];

describe.each(['/fhir', ''])('the resource API on the root "%s"', (root) => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp();
  });
  afterAll(() => app.close());

  it.each(INTERACTIONS.map((row) => [`${row.fact}: ${row.send.join(' [base]')}`, row] as const))(
    '%s',
    async (_fact, { send: [method, path], headers = {}, body, status, answers = {}, shows }) => {
      const { Authorization, ...others } = headers;
      const answer = await app.send(method, `${root}${path}` || '/', {
        headers: others,
        ...(Authorization === undefined ? {} : { authorization: null }),
        ...(body === undefined ? {} : { body }),
      });
      expect([answer.status, answer.status >= 400 && status < 400 ? answer.text : '']).toEqual([status, '']);
      for (const [name, value] of Object.entries(answers)) {
        expect([name, answer.headers.get(name)]).toEqual([
          name,
          typeof value === 'string' ? withBase(value) : expect.stringMatching(value),
        ]);
      }
      if (shows === null) expect(answer.text).toBe('');
      else if (shows !== undefined) expect(relativeBody(answer)).toMatchObject(shows);
    },
  );

  const withBase = (text: string): string => text.replace('{base}', `${BASE_URL}${root}`);
  /** Replaces URLs below the root by the form of the table. */
  const relativeBody = (answer: Received): object =>
    JSON.parse(answer.text.replaceAll(`"${BASE_URL}${root}/`, '"{base}/')) as object;
});

describe('without credentials,', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp();
  });
  afterAll(() => app.close());

  it('/health returns version, uptime, memory and the time of the database', async () => {
    const health = await app.get('/health', { authorization: null });
    const check = [{ observedValue: expect.any(Number), observedUnit: expect.any(String) }];
    expect([health.status, health.headers.get('content-type')]).toEqual([
      200,
      'application/health+json; charset=utf-8',
    ]);
    expect(health.json()).toMatchObject({
      status: 'pass',
      about: { version: expect.stringMatching(/^\d+\.\d+\.\d+/) },
      checks: { uptime: check, 'memory:utilization': check, 'db:responseTime': [{ status: 'pass' }] },
    });
  });

  it.each([
    ['GET', '/fhir/Patient'],
    ['POST', '/fhir'],
    ['GET', '/Patient/p/_history'],
    ['GET', '/$version'],
    ['DELETE', '/Patient?_id=p'],
  ])('%s %s returns 401 with a challenge', async (method, path) => {
    const refused = await app.send(method, path, { authorization: null });
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="svc"']);
    expect(refused.json()).toMatchObject({ id: 'login', issue: [{ code: 'login' }] });
  });
});
