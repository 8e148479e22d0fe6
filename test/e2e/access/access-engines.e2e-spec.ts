import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Person, login } from '../../../testing/world';
import { type Received, type TestApp, basicHeader, startTestApp } from '../../../testing/test-app';

/** A request that must be granted, or denied: method, path, body, headers. */
type Call = readonly [
  method: string,
  path: string,
  body?: object | string | undefined,
  headers?: Record<string, string>,
];

describe('policy engines', () => {
  let app: TestApp;
  let nurse: Person;
  let number = 0;

  beforeAll(async () => {
    app = await startTestApp();
    nurse = await login(app, 'nurse', { policies: [] });
    const user = (await app.get('/User/nurse')).json<object>();
    await app.put('/User/nurse', { ...user, data: { patient: 'p1', ward: 'w1', methods: ['svc/echo'] } });
    for (const id of ['p1', 'p2']) await app.put(`/Patient/${id}`, {});
    await app.put('/Client/machine', { secret: 'machine', grant_types: ['basic'], details: { site: 'north' } });
  });
  afterAll(() => app.close());

  const as = (authorization: string, [method, path, body, headers = {}]: Call): Promise<Received> =>
    app.send(method, path, { authorization, headers, ...(body === undefined ? {} : { body }) });

  async function withPolicy<T>(policy: object, work: () => Promise<T>): Promise<T> {
    const path = `/AccessPolicy/engine-${++number}`;
    const answer = await app.put(path, policy);
    expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
    return work().finally(() => app.delete(path));
  }

  const link = [{ resourceType: 'User', id: 'nurse' }];
  const rpc = (method: string, params: object = {}): Call => ['POST', '/rpc', { method, params }];

  it.each<[string, object, readonly Call[], readonly Call[]]>([
    [
      'method and URL',
      { 'request-method': 'get', uri: '#^/(fhir/)?Patient(/|$)' },
      [
        ['GET', '/Patient/p1'],
        ['GET', '/fhir/Patient/'],
        ['GET', '/fhir/%50atient/p1'],
      ],
      [
        ['PUT', '/Patient/p1', {}],
        ['GET', '/Observation'],
      ],
    ],
    [
      'route values, which a query cannot override',
      {
        params: { 'resource/type': 'Patient', 'resource/id': '.user.data.patient' },
        user: { data: { patient: 'present?' } },
      },
      [['GET', '/Patient/p1']],
      [
        ['GET', '/Patient/p2'],
        ['GET', '/Patient?resource/id=p1'],
        ['GET', '/Patient/p2?resource/id=p1'],
      ],
    ],
    [
      'query and form parameters',
      { params: { 'resource/type': 'Patient', _id: '.user.data.patient', name: 'nil?' } },
      [
        ['GET', '/Patient?_id=p1'],
        ['POST', '/Patient/_search', '_id=p1', { 'Content-Type': 'application/x-www-form-urlencoded' }],
      ],
      [
        ['GET', '/Patient'],
        ['GET', '/Patient?_id=p2'],
        ['GET', '/Patient?_id=p1&_id=p2'],
        ['POST', '/Patient/_search?_id=p1', 'name=x', { 'Content-Type': 'application/x-www-form-urlencoded' }],
      ],
    ],
    [
      'the written resource, with type and id of the URL',
      { resource: { resourceType: 'Observation', subject: { $reference: { id: '.user.data.patient' } } } },
      [['POST', '/Observation', { status: 'final', code: { text: 'x' }, subject: { reference: 'Patient/p1' } }]],
      [
        ['POST', '/Observation', { status: 'final', code: { text: 'x' }, subject: { reference: 'Patient/p2' } }],
        ['POST', '/Condition', { subject: { reference: 'Patient/p1' } }],
        ['POST', '/Observation', '{"subject":{"reference":"Patient/p1"}'],
      ],
    ],
    [
      'the body of a patch',
      { 'request-method': 'patch', body: { gender: 'present?', active: 'nil?' } },
      [['PATCH', '/Patient/p1', { gender: 'other' }, { 'Content-Type': 'application/merge-patch+json' }]],
      [
        [
          'PATCH',
          '/Patient/p1',
          { gender: 'other', active: false },
          { 'Content-Type': 'application/merge-patch+json' },
        ],
      ],
    ],
    [
      'session, claims, headers and client address',
      {
        session: { type: 'password', active: true, access_token: 'nil?' },
        headers: { authorization: 'nil?', cookie: 'nil?', 'x-purpose': 'care' },
        'remote-addr': '#^(127\\.0\\.0\\.1|::1|::ffff:127\\.0\\.0\\.1)$',
        scheme: 'http',
        jwt: 'nil?',
      },
      [['GET', '/Patient/p1', undefined, { 'X-Purpose': 'care', Cookie: 'a=b' }]],
      [['GET', '/Patient/p1', undefined, { 'X-Purpose': 'billing' }]],
    ],
    [
      'the User without secrets',
      { user: { id: 'nurse', userName: 'nurse', password: 'nil?' }, operation: { id: 'FhirRead' } },
      [['GET', '/Patient/p1']],
      [['GET', '/Patient']],
    ],
  ])('matcho decides by %s', async (_case, matcho, granted, denied) => {
    await withPolicy({ engine: 'matcho', matcho, link }, async () => {
      for (const call of granted) {
        const { status, text } = await as(nurse.bearer, call);
        expect([call, status, status < 300 ? '' : text]).toEqual([call, expect.any(Number), '']);
      }
      for (const call of denied) expect([call, (await as(nurse.bearer, call)).status]).toEqual([call, 403]);
    });
  });

  it('matcho can read the Client, without its secret', async () => {
    const matcho = {
      client: { id: 'machine', details: { site: 'north' }, secret: 'nil?' },
      user: 'nil?',
      session: 'nil?',
    };
    await withPolicy({ engine: 'matcho', matcho }, async () => {
      expect((await as(basicHeader('machine', 'machine'), ['GET', '/Patient/p1'])).status).toBe(200);
      expect((await as(nurse.bearer, ['GET', '/Patient/p1'])).status).toBe(403);
    });
  });

  it('json-schema decides by the request object', async () => {
    const schema = {
      required: ['user', 'params'],
      properties: {
        user: { properties: { data: { required: ['ward'] } } },
        params: { required: ['resource/type'], properties: { 'resource/type': { enum: ['Patient', 'Encounter'] } } },
      },
    };
    await withPolicy({ engine: 'json-schema', schema, link }, async () => {
      expect((await as(nurse.bearer, ['GET', '/Patient/p1'])).status).toBe(200);
      expect((await as(nurse.bearer, ['GET', '/Observation'])).status).toBe(403);
    });
  });

  it('complex combines rules of other engines with and/or', async () => {
    const policy = {
      engine: 'complex',
      link,
      and: [
        { engine: 'matcho', matcho: { user: { data: { ward: 'present?' } } } },
        {
          engine: 'complex',
          or: [
            { engine: 'json-schema', schema: { required: ['query-string'] } },
            { engine: 'matcho', matcho: { params: { 'resource/id': 'p1' } } },
          ],
        },
      ],
    };
    await withPolicy(policy, async () => {
      expect((await as(nurse.bearer, ['GET', '/Patient/p1'])).status).toBe(200);
      expect((await as(nurse.bearer, ['GET', '/Patient?_id=p2'])).status).toBe(200);
      expect((await as(nurse.bearer, ['GET', '/Patient/p2'])).status).toBe(403);
    });
  });

  describe('for RPC methods', () => {
    const echoed = (text: string): object => ({
      type: 'rpc',
      engine: 'matcho-rpc',
      link,
      rpc: { 'svc/echo': { params: { text } } },
    });

    it('allow-rpc grants only the methods that it lists', async () => {
      await withPolicy({ type: 'rpc', engine: 'allow-rpc', link, rpc: { 'svc/echo': true } }, async () => {
        expect((await as(nurse.bearer, rpc('svc/echo'))).status).toBe(200);
        for (const call of [
          rpc('svc.sdc.addendum/get-addendums'),
          rpc('svc/unknown'),
          ['POST', '/rpc?_m=svc/echo', { method: 'svc.sdc.addendum/get-addendums' }] as const,
          ['POST', '/rpc', '{"method":'] as const,
          ['POST', '/rpc', '[]'] as const,
          ['GET', '/Patient/p1'] as const,
          ['GET', '/rpc'] as const,
        ]) {
          expect([call, (await as(nurse.bearer, call)).status]).toEqual([call, 403]);
        }
      });
    });

    it('matcho-rpc can read the params of the call', async () => {
      await withPolicy(echoed('#^care'), async () => {
        expect((await as(nurse.bearer, rpc('svc/echo', { text: 'care plan' }))).json()).toEqual({
          result: { text: 'care plan' },
        });
        expect((await as(nurse.bearer, rpc('svc/echo', { text: 'bill' }))).status).toBe(403);
        expect((await as(nurse.bearer, rpc('svc/echo'))).status).toBe(403);
      });
    });

    it('each call of a batch is decided separately', async () => {
      await withPolicy(echoed('care'), async () => {
        const calls = ['care', 'bill', 'care'].map((text) => ({ method: 'svc/echo', params: { text } }));
        const answer = await as(nurse.bearer, ['POST', '/rpc', calls]);
        expect([answer.status, answer.json<unknown>()]).toEqual([
          200,
          [
            { result: { text: 'care' } },
            { error: { message: expect.stringContaining('AccessPolicy'), type: 'policy-missing' } },
            { result: { text: 'care' } },
          ],
        ]);
        expect((await as(nurse.bearer, ['POST', '/rpc', calls.slice(1, 2)])).status).toBe(403);
      });
    });

    it('matcho reads the method of the body as the parameter _m, even if the query has another _m', async () => {
      const matcho = { uri: '/rpc', params: { _m: { $enum: ['svc/echo'] } }, body: { params: { text: 'care' } } };
      await withPolicy({ engine: 'matcho', type: 'rpc', matcho, link }, async () => {
        expect((await as(nurse.bearer, rpc('svc/echo', { text: 'care' }))).status).toBe(200);
        expect(
          (await as(nurse.bearer, ['POST', '/rpc?_m=x', { method: 'svc/echo', params: { text: 'care' } }])).status,
        ).toBe(200);
        expect((await as(nurse.bearer, rpc('svc/echo', { text: 'bill' }))).status).toBe(403);
      });
    });

    it('a policy with type rest grants no RPC call, and one with type rpc grants only RPC calls', async () => {
      await withPolicy({ engine: 'allow', type: 'rest', link }, async () => {
        expect((await as(nurse.bearer, rpc('svc/echo'))).status).toBe(403);
        expect((await as(nurse.bearer, ['GET', '/Patient/p1'])).status).toBe(200);
      });
      await withPolicy({ engine: 'allow', type: 'rpc', link }, async () => {
        expect((await as(nurse.bearer, rpc('svc/echo'))).status).toBe(200);
        expect((await as(nurse.bearer, ['GET', '/Patient/p1'])).status).toBe(403);
      });
    });
  });

  describe('for entries of Bundles', () => {
    const entry = (method: string, url: string, resource?: object): object => ({
      request: { method, url },
      ...(resource === undefined ? {} : { resource }),
    });
    const bundle = (type: string, ...entries: object[]): Call => [
      'POST',
      '/fhir',
      { resourceType: 'Bundle', type, entry: entries },
    ];
    const patient = (id: string, active: boolean): object =>
      entry('PUT', `Patient/${id}`, { resourceType: 'Patient', id, active });
    const statuses = (answer: Received): unknown =>
      answer
        .json<{ entry: { response: { status: string } }[] }>()
        .entry.map(({ response }) => response.status.slice(0, 3));

    it('decide by the request object of the entry', async () => {
      const patterns = {
        '$one-of': [
          { operation: { id: 'FhirBundle' } },
          {
            'request-method': 'put',
            uri: '/fhir/Patient/b1',
            params: { 'resource/id': 'b1' },
            resource: { active: true },
            headers: { 'x-purpose': 'care' },
            'remote-addr': 'present?',
          },
          {
            'request-method': 'get',
            uri: '/fhir/Patient/p1',
            headers: { 'x-purpose': 'care' },
            'remote-addr': 'present?',
          },
        ],
      };
      const sent = ([method, path, body]: Call): Call => [method, path, body, { 'X-Purpose': 'care' }];
      await withPolicy({ engine: 'matcho', matcho: patterns, link }, async () => {
        for (const type of ['transaction', 'batch']) {
          const good = await as(nurse.bearer, sent(bundle(type, patient('b1', true), entry('GET', 'Patient/p1'))));
          expect([good.status, statuses(good)]).toEqual([200, [expect.stringMatching(/^20/), '200']]);
        }
        for (const bad of [
          patient('b1', false),
          patient('b2', true),
          entry('GET', 'Patient/p2'),
          entry('DELETE', 'Patient/b1'),
        ]) {
          expect((await as(nurse.bearer, sent(bundle('transaction', patient('b1', true), bad)))).status).toBe(403);
          expect(statuses(await as(nurse.bearer, sent(bundle('batch', patient('b1', true), bad))))).toEqual([
            '200',
            '403',
          ]);
        }
        expect((await as(nurse.bearer, bundle('transaction', patient('b1', true)))).status).toBe(403);
      });
    });
  });

  it.each<[string, object]>([
    ['matcho', { engine: 'matcho' }],
    ['matcho.url', { engine: 'matcho', matcho: { url: 'x' } }],
    ['matcho.uri', { engine: 'matcho', matcho: { uri: '#(' } }],
    ['schema', { engine: 'json-schema', schema: { propertees: {} } }],
    ['or', { engine: 'complex' }],
    ['and', { engine: 'complex', and: [{ engine: 'allow' }], or: [{ engine: 'allow' }] }],
    ['and', { engine: 'complex', and: [] }],
    ['and[0].engine', { engine: 'complex', and: [{ engine: 'sql' }] }],
    ['and[0].engine', { engine: 'complex', and: [{ engine: 'allow-rpc', rpc: { a: true } }] }],
    [
      'and[1].or[0].matcho.url',
      {
        engine: 'complex',
        and: [{ engine: 'allow' }, { engine: 'complex', or: [{ engine: 'matcho', matcho: { url: 'x' } }] }],
      },
    ],
    ['and[0].link', { engine: 'complex', and: [{ engine: 'allow', link }] }],
    ['type', { engine: 'allow-rpc', rpc: { 'svc/echo': true } }],
    ['type', { engine: 'allow-rpc', type: 'rest', rpc: { 'svc/echo': true } }],
    ['rpc', { engine: 'allow-rpc', type: 'rpc' }],
    ['rpc.svc/echo', { engine: 'allow-rpc', type: 'rpc', rpc: { 'svc/echo': false } }],
    ['rpc.svc/echo.uri', { engine: 'matcho-rpc', type: 'rpc', rpc: { 'svc/echo': { uri: '#(' } } }],
    ['criteria', { engine: 'allow-rpc', type: 'rpc', rpc: { 'svc/echo': true }, criteria: 'Patient' }],
  ])('reject a policy with a mistake at %s: %j', async (member, policy) => {
    const answer = await app.put('/AccessPolicy/unclear', policy);
    expect([answer.status, answer.json<{ issue: { expression: string[] }[] }>().issue[0]?.expression]).toEqual([
      422,
      [`AccessPolicy.${member}`],
    ]);
  });
});
