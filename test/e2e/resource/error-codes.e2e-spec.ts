import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable, Module } from '@nestjs/common';
import { ERROR_CODES, type ErrorCode } from '../../../src/platform/errors/error-codes';
import { ServiceError } from '../../../src/platform/errors/service-error';
import { OnResourceChange, type ResourceChangeListener } from '../../../src/resource/hooks/resource-change';
import { BASE_URL, basicHeader, type Received, type Sent, startTestApp, type TestApp } from '../../../testing/test-app';
import { login, type Person } from '../../../testing/world';
import { destination } from '../../support/destinations';

interface Outcome {
  readonly issue: readonly {
    readonly severity: string;
    readonly details?: { readonly coding: readonly { readonly system: string; readonly code: string }[] };
  }[];
}

const codesOf = ({ issue }: Outcome): (string | undefined)[] =>
  issue.map(({ details }) => {
    const [coding] = details?.coding ?? [];
    return coding?.system === 'urn:svc:error' ? coding.code : undefined;
  });

/** A listener of another team: it vetoes each Flag without a code, and throws for each Slot. */
@Injectable()
@OnResourceChange({ types: ['Flag', 'Slot'] })
class Veto implements ResourceChangeListener {
  onChange(change: { readonly type: string }): Promise<void> {
    if (change.type === 'Slot') return Promise.reject(new Error('a defect'));
    return Promise.reject(new ServiceError('conflict', 'No Flag while the ward is closed. Try again tomorrow.'));
  }
}

@Module({ providers: [Veto] })
class VetoModule {}

type Case = readonly [code: ErrorCode, status: number, method: string, path: string, sent?: Sent];

const patient = (more: object = {}): Sent => ({ body: { resourceType: 'Patient', ...more } });
const header = (name: string, value: string, body?: object): Sent => ({
  headers: { [name]: value },
  ...(body === undefined ? {} : { body }),
});
const ANONYMOUS = { authorization: null };
const patched = (body: object): Sent => ({ body, headers: { 'Content-Type': 'application/json-patch+json' } });
const bundle = (type: string, ...entry: object[]): Sent => ({ body: { resourceType: 'Bundle', type, entry } });

const SUBJECT = { reference: 'Patient/kept' };
const FLAG = { resourceType: 'Flag', status: 'active', code: { text: 'x' }, subject: SUBJECT };
const SLOT = {
  resourceType: 'Slot',
  schedule: { reference: 'Schedule/s' },
  status: 'free',
  start: '2026-01-31T10:00:00Z',
  end: '2026-01-31T11:00:00Z',
};
const PARAMETER = {
  resourceType: 'SearchParameter',
  url: 'http://clinic.example/SearchParameter/broken',
  name: 'Broken',
  status: 'active',
  description: 'A wrong expression',
  code: 'broken',
  base: ['Patient'],
  type: 'string',
  expression: 'Patient.name.(',
};

const ON_FHIR: readonly Case[] = [
  ['body-malformed', 400, 'POST', '/fhir/Patient', { body: '{"resourceType":' }],
  ['body-duplicate-key', 400, 'POST', '/fhir/Patient', { body: '{"resourceType":"Patient","id":"a","id":"b"}' }],
  ['body-forbidden-key', 400, 'POST', '/fhir/Patient', { body: '{"resourceType":"Patient","__proto__":{}}' }],
  ['body-too-deep', 400, 'POST', '/fhir/Patient', { body: `${'['.repeat(200)}${']'.repeat(200)}` }],
  ['body-missing', 400, 'POST', '/fhir/Patient', header('Content-Type', 'application/fhir+json')],
  ['body-not-a-resource', 400, 'POST', '/fhir/Patient', { body: { resourceType: 'Group' } }],
  ['body-too-large', 413, 'POST', '/fhir/Patient', { body: ' '.repeat(400_000) }],
  ['bundle-invalid', 400, 'POST', '/fhir', bundle('message')],
  ['bundle-too-many-entries', 413, 'POST', '/fhir', bundle('batch', {}, {}, {}, {})],
  ['bundle-entry-invalid', 400, 'POST', '/fhir', bundle('transaction', { resource: { resourceType: 'Patient' } })],
  ['header-invalid', 400, 'PUT', '/fhir/Patient/kept', header('If-Match', 'abc', { resourceType: 'Patient' })],
  [
    'header-invalid',
    400,
    'POST',
    '/fhir/Patient',
    header('x-max-isolation-level', 'none', { resourceType: 'Patient' }),
  ],
  ['criteria-invalid', 400, 'POST', '/fhir/Patient', header('If-None-Exist', '_count=1', { resourceType: 'Patient' })],
  ['id-invalid', 400, 'GET', '/fhir/Patient/a%20b'],
  ['id-mismatch', 400, 'PUT', '/fhir/Patient/a', patient({ id: 'b' })],
  ['include-invalid', 400, 'GET', '/fhir/Patient?_include=Patient:doctor'],
  ['page-link-invalid', 400, 'GET', '/fhir/Patient?_after=zzz'],
  ['parameter-unknown', 400, 'GET', '/fhir/Patient/kept/_history?family=a'],
  ['parameter-repeated', 400, 'GET', '/fhir/Patient/kept/$everything?_since=2026&_since=2026'],
  ['parameter-value-invalid', 400, 'GET', '/fhir/Patient?_count=few'],
  ['parameters-exclusive', 400, 'GET', '/fhir/Patient?_summary=true&_elements=name'],
  ['patch-malformed', 400, 'PATCH', '/fhir/Patient/kept', patched([{ op: 'grow' }])],
  ['patch-not-applicable', 422, 'PATCH', '/fhir/Patient/kept', patched([{ op: 'remove', path: '/name' }])],
  ['search-parameter-unknown', 400, 'GET', '/fhir/Patient?surname=x'],
  ['search-value-invalid', 400, 'GET', '/fhir/Patient?birthdate=soon'],
  ['search-too-large', 400, 'GET', `/fhir/Patient?${'family=a&'.repeat(100)}`],
  ['url-malformed', 400, 'GET', '/fhir/Patient/%zz'],
  ['value-set-unusable', 400, 'GET', '/fhir/Observation?code:in=http://nowhere.example/vs'],
  ['token-missing', 401, 'GET', '/fhir/Patient', ANONYMOUS],
  ['token-rejected', 401, 'GET', '/fhir/Patient', { authorization: 'Bearer nothing' }],
  ['basic-rejected', 401, 'GET', '/fhir/Patient', { authorization: basicHeader('root', 'wrong') }],
  ['authorization-malformed', 401, 'GET', '/fhir/Patient', { authorization: 'Digest x' }],
  ['token-required', 401, 'DELETE', '/Session'],
  ['token-required', 401, 'POST', '/SDCDocument/kept/$amendments-link'],
  ['unprocessable', 422, 'POST', '/fhir/Session', { body: { resourceType: 'Session' } }],
  ['decision-not-found', 404, 'GET', '/auth/decisions/b6a1a6a4-30fb-4cd6-8f6b-0c4b0e1e8a11'],
  ['event-not-found', 404, 'GET', '/fhir/SvcTopicDestination/hook/$request?number=9'],
  ['parameter-value-invalid', 400, 'GET', '/fhir/SvcTopicDestination/$overview?state=late'],
  ['parameter-unknown', 400, 'GET', '/fhir/SvcTopicDestination/hook/$events?limit=3'],
  ['parameter-repeated', 400, 'GET', '/fhir/SvcTopicDestination/hook/$events?from=1&from=2'],
  ['operation-unknown', 404, 'GET', '/fhir/Patient/kept/$everythin'],
  ['resource-not-found', 404, 'GET', '/fhir/Patient/none'],
  ['resource-deleted', 410, 'GET', '/fhir/Patient/gone'],
  ['resource-type-unknown', 404, 'GET', '/fhir/Patint/1'],
  ['route-unknown', 404, 'GET', '/auth/nothing'],
  ['version-not-found', 404, 'GET', '/fhir/Patient/kept/_history/9'],
  ['no-match', 404, 'PATCH', '/fhir/Patient?family=none', patched([{ op: 'test', path: '/id', value: 'x' }])],
  ['not-allowed', 405, 'PUT', '/fhir', {}],
  ['history-read-only', 405, 'DELETE', '/fhir/Patient/kept/_history'],
  ['write-refused', 405, 'PUT', '/fhir/SDCAddendum/a1', { body: { resourceType: 'SDCAddendum' } }],
  ['not-acceptable', 406, 'GET', '/fhir/Patient/kept?_format=xml'],
  ['conflict', 409, 'POST', '/fhir/Flag', { body: FLAG }],
  ['login-name-taken', 409, 'PUT', '/fhir/User/second', { body: { userName: 'nurse' } }],
  ['resource-exists', 412, 'PUT', '/fhir/Patient/kept', header('If-None-Match', '*', { resourceType: 'Patient' })],
  ['version-mismatch', 412, 'PUT', '/fhir/Patient/kept', header('If-Match', 'W/"9"', { resourceType: 'Patient' })],
  ['multiple-matches', 412, 'DELETE', '/fhir/Patient?family=Twin'],
  ['unsupported-media-type', 415, 'POST', '/fhir/Patient', header('Content-Type', 'text/plain', {})],
  ['content-encoding-unsupported', 415, 'POST', '/fhir/Patient', header('Content-Encoding', 'zstd', {})],
  [
    'fhir-version-unsupported',
    415,
    'POST',
    '/fhir/Patient',
    header('Content-Type', 'application/fhir+json; fhirVersion=3.0', {}),
  ],
  ['account-invalid', 422, 'PUT', '/fhir/Client/c', { body: { grant_types: ['magic'] } }],
  ['password-rejected', 422, 'PUT', '/fhir/User/u', { body: { password: '$s0$broken' } }],
  ['policy-invalid', 422, 'POST', '/fhir/AccessPolicy', { body: { engine: 'magic' } }],
  ['resource-invalid', 422, 'POST', '/fhir/Patient', patient({ gender: 'blue' })],
  ['search-parameter-invalid', 422, 'PUT', '/fhir/SearchParameter/broken', { body: PARAMETER }],
  ['session-invalid', 422, 'PUT', '/fhir/Session/none', { body: { active: 'yes' } }],
  ['topic-invalid', 422, 'POST', '/fhir/SvcSubscriptionTopic', { body: { status: 'active' } }],
  ['destination-invalid', 422, 'POST', '/fhir/SvcTopicDestination', { body: destination('t', { kind: 'pigeon' }) }],
  ['internal-error', 500, 'POST', '/fhir/Slot', { body: SLOT }],
];

const target = { resourceType: 'SDCDocument', id: 'open' };
const user = { resourceType: 'User', id: 'nurse' };
const call = (method: string, params: object): object => ({ method, params });
const RPC: readonly (readonly [type: string, status: number, body: object, code?: ErrorCode])[] = [
  ['rpc-call-malformed', 400, {}],
  ['rpc-method-unknown', 422, call('svc/ecko', {})],
  ['rpc-params-invalid', 422, call('svc.sdc.addendum/get-addendums', {})],
  ['rpc-batch-too-large', 422, Array.from({ length: 101 }, () => call('svc/echo', {}))],
  ['note-on-open-document', 422, call('svc.sdc.addendum/add-note', { target, user, text: 'Seated.' })],
  ['sdc.error/status', 422, call('svc.sdc/amend', { id: 'open' }), 'document-status'],
];

const OAUTH: readonly (readonly [code: ErrorCode, status: number, error: string, body: Record<string, string>])[] = [
  ['oauth-invalid-request', 400, 'invalid_request', {}],
  ['oauth-invalid-client', 401, 'invalid_client', { grant_type: 'password', client_id: 'nobody' }],
  ['oauth-unsupported-grant-type', 400, 'unsupported_grant_type', { grant_type: 'magic' }],
  ['oauth-unauthorized-client', 400, 'unauthorized_client', { grant_type: 'client_credentials' }],
  ['oauth-invalid-scope', 400, 'invalid_scope', { scope: 'all' }],
  ['oauth-invalid-target', 400, 'invalid_target', { audience: 'https://elsewhere.example' }],
  ['credentials-wrong', 400, 'invalid_grant', { password: 'wrong' }],
  ['user-inactive', 400, 'invalid_grant', { username: 'left', password: 'password of left' }],
  ['one-time-code-missing', 400, 'invalid_grant', { username: 'guarded', password: 'password of guarded' }],
  [
    'one-time-code-wrong',
    400,
    'invalid_grant',
    { username: 'guarded', password: 'password of guarded', totp: '000000' },
  ],
  ['refresh-token-rejected', 400, 'invalid_grant', { grant_type: 'refresh_token', refresh_token: 'nothing' }],
];

describe('error codes', () => {
  let app: TestApp;
  let nurse: Person;

  beforeAll(async () => {
    const environment = { SVC_BODY_LIMIT_BYTES: '300000', SVC_BUNDLE_ENTRIES_MAX: '3' };
    app = await startTestApp({ environment, modules: [VetoModule] });
    nurse = await login(app, 'nurse');
    await login(app, 'guest', { policies: [] });
    for (const [path, body] of [
      ['Patient/kept', { resourceType: 'Patient' }],
      ['Patient/gone', { resourceType: 'Patient' }],
      ['Patient/twin1', { resourceType: 'Patient', name: [{ family: 'Twin' }] }],
      ['Patient/twin2', { resourceType: 'Patient', name: [{ family: 'Twin' }] }],
      ['SDCDocument/open', { status: 'in-progress' }],
      ['SvcTopicDestination/hook', destination('http://clinic.example/topics/none')],
      ['User/left', { userName: 'left', password: 'password of left', inactive: true }],
      [
        'User/guarded',
        {
          userName: 'guarded',
          password: 'password of guarded',
          twoFactor: { enabled: true, secretKey: 'GEZDGNBVGY3TQOJQ' },
        },
      ],
    ] as const)
      expect((await app.put(`/fhir/${path}`, body)).status).toBeLessThan(202);
    await app.delete('/fhir/Patient/gone');
  });
  afterAll(() => app.close());

  const helpOf = (code: string): string => `<${BASE_URL}/docs/reference/errors.html#${code}>; rel="help"`;
  const rpc = (body: object): Promise<Received> => app.post('/rpc', body);

  it.each(ON_FHIR)('%s: %d for %s %s', async (code, status, method, path, ...[sent = {}]) => {
    const answer = await app.send(method, path, sent);
    expect([answer.status, new Set(codesOf(answer.json<Outcome>()))]).toEqual([status, new Set([code])]);
    expect(answer.headers.get('link')).toBe(helpOf(code));
  });

  it('a denial has a code', async () => {
    const { bearer } = await login(app, 'visitor', { policies: [] });
    const answer = await app.get('/fhir/Patient', { authorization: bearer });
    expect([answer.status, codesOf(answer.json<Outcome>())]).toEqual([403, ['policy-missing']]);
  });

  it('each entry of a batch has its own code', async () => {
    const entries = ['Patient/none', 'Patient/gone', 'Patient?surname=x'].map((url) => ({
      request: { method: 'GET', url },
    }));
    const answer = await app.send('POST', '/fhir', bundle('batch', ...entries));
    const { entry } = answer.json<{ entry: { response: { outcome?: Outcome }; resource?: Outcome }[] }>();
    expect(entry.map(({ response, resource }) => codesOf(response.outcome ?? resource ?? { issue: [] }))).toEqual([
      ['resource-not-found'],
      ['resource-deleted'],
      ['search-parameter-unknown'],
    ]);
  });

  it('each refused entry of a transaction has its own code', async () => {
    const entries = [
      { request: { method: 'POST', url: 'Patient' }, resource: { resourceType: 'Patient', gender: 'blue' } },
      { request: { method: 'PUT', url: 'Patient/a b' }, resource: { resourceType: 'Patient' } },
      { request: { method: 'GET', url: 'Patient/none' } },
    ];
    const answer = await app.send('POST', '/fhir', bundle('transaction', ...entries.slice(0, 2)));
    expect(codesOf(answer.json<Outcome>())).toEqual(['resource-invalid', 'id-invalid']);
    const ofRead = await app.send('POST', '/fhir', bundle('transaction', ...entries.slice(2)));
    expect([ofRead.status, codesOf(ofRead.json<Outcome>())]).toEqual([404, ['resource-not-found']]);
  });

  it.each(RPC)('RPC: type %s, %d', async (type, status, body, code = type as ErrorCode) => {
    const answer = await rpc(body);
    expect([answer.status, answer.json()]).toMatchObject([status, { error: { type } }]);
    expect(answer.headers.get('link')).toBe(helpOf(code));
  });

  it('RPC: calls of an array have their own types', async () => {
    const answer = await rpc([call('svc/ecko', {}), {}]);
    expect(answer.json<{ error: { type: string } }[]>().map(({ error }) => error.type)).toEqual([
      'rpc-method-unknown',
      'rpc-call-malformed',
    ]);
  });

  it('RPC: the body for an unknown target is the specified one; the Link header has the code', async () => {
    const none = { resourceType: 'SDCDocument', id: 'none' };
    const answer = await rpc(call('svc.sdc.addendum/get-addendums', { target: none }));
    expect([answer.status, answer.text]).toEqual([422, '{"error":{"message":"Resource not found"}}']);
    expect(answer.headers.get('link')).toBe(helpOf('target-not-found'));
  });

  it('RPC: a denial is an OperationOutcome with a code', async () => {
    const answer = await app.post('/rpc', call('svc/echo', {}), ANONYMOUS);
    expect([answer.status, codesOf(answer.json<Outcome>())]).toEqual([401, ['token-missing']]);
  });

  it.each(OAUTH)('OAuth: %s, %d %s', async (code, status, error, body) => {
    const grant = body.grant_type ?? (Object.keys(body).length === 0 ? undefined : 'password');
    const form = { username: 'nurse', password: nurse.password, ...body };
    const answer = await app.post(
      '/auth/token',
      { ...form, ...(grant === undefined ? {} : { grant_type: grant }) },
      { authorization: body.client_id === undefined ? basicHeader(nurse.clientId, nurse.clientSecret) : null },
    );
    expect([answer.status, answer.json()]).toEqual([
      status,
      {
        error,
        error_description: expect.any(String),
        error_uri: `${BASE_URL}/docs/reference/errors.html#${code}`,
      },
    ]);
  });

  it('OAuth: other errors have the code of their kind', async () => {
    const answer = await app.get('/auth/token');
    expect([answer.status, answer.json<{ error_uri: string }>().error_uri]).toEqual([
      405,
      `${BASE_URL}/docs/reference/errors.html#not-allowed`,
    ]);
  });

  it('a warning next to an error has no code', async () => {
    const body = { resourceType: 'Patient', gender: 'blue', meta: { profile: ['http://nowhere.example/p'] } };
    const { issue } = (await app.post('/fhir/Patient', body)).json<Outcome>();
    expect(issue.filter(({ severity }) => severity === 'fatal').every(({ details }) => details !== undefined)).toBe(
      true,
    );
    expect(issue.filter(({ severity }) => severity !== 'fatal').map(({ details }) => details)).toEqual([undefined]);
  });

  it('a success has no code', async () => {
    const answer = await app.send('PUT', '/fhir/Patient/kept', {
      ...patient(),
      headers: { Prefer: 'return=OperationOutcome' },
    });
    expect([answer.status, codesOf(answer.json<Outcome>()), answer.headers.get('link')]).toEqual([
      200,
      [undefined],
      null,
    ]);
  });

  it('a request that Node cannot parse has a code', async () => {
    const text = await refusalOf(`GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`);
    expect(text).toContain('"code":"headers-too-large"');
  });

  it('the tables above cause at least sixty codes, all from the catalog', () => {
    const provoked = new Set([
      ...ON_FHIR.map(([code]) => code),
      ...RPC.map(([type, , , code = type as ErrorCode]) => code),
      ...OAUTH.map(([code]) => code),
    ]);
    expect([...provoked].filter((code) => !ERROR_CODES.has(code))).toEqual([]);
    expect(provoked.size).toBeGreaterThan(60);
  });

  function refusalOf(request: string): Promise<string> {
    const { hostname, port } = new URL(app.url);
    return new Promise((resolve, reject) => {
      let text = '';
      connect(Number(port), hostname)
        .on('data', (chunk) => (text += chunk.toString()))
        .on('close', () => {
          resolve(text);
        })
        .on('error', reject)
        .write(request);
    });
  }
});
