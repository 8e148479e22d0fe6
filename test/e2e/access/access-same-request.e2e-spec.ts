import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { request as httpRequest } from 'node:http';
import { type Person, login, storeAll } from '../../../testing/world';
import { type Received, type TestApp, startTestApp } from '../../../testing/test-app';
import { sendingAs } from '../../support/callers';

const OWN = { reference: 'Patient/own' };

const observation = (subject: object): object => ({
  resourceType: 'Observation',
  status: 'final',
  code: { text: 'pulse' },
  subject,
});

const REPLACE_STATUS = [{ op: 'replace', path: '/status', value: 'amended' }];

interface BundleAnswer {
  readonly entry: readonly { readonly response: { readonly status: string } }[];
}

describe('a policy decides on the request that the route runs', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp();
    await storeAll(app, [
      ['Patient/own', {}],
      ['Patient/other', {}],
      ['Observation/own', observation(OWN)],
      ['Observation/other', observation({ reference: 'Patient/other' })],
    ]);
  });
  afterAll(() => app.close());

  const personWith = (userId: string, ...patterns: object[]): Promise<Person> =>
    login(app, userId, { policies: patterns.map((matcho) => ({ engine: 'matcho', matcho })) });

  const versionOf = async (path: string): Promise<string | null> => (await app.get(`/${path}`)).headers.get('etag');

  describe('and refuses a request target that only looks like the granted one', () => {
    let visitor: Person;
    beforeAll(async () => {
      visitor = await personWith('visitor', { uri: '#/Patient/own$' });
    });

    /** Sends a request target as it is; fetch would change it. */
    const statusOf = (path: string): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const { hostname, port } = new URL(app.url);
        const headers = { authorization: visitor.bearer };
        httpRequest({ agent: false, hostname, port, path, headers }, (response) => {
          response.resume();
          resolve(response.statusCode);
        })
          .on('error', reject)
          .end();
      });

    it.each([
      ['/fhir/Patient/own', 200],
      ['http://other.example/fhir/Patient/own', 200],
      ['/fhir/Patient/other', 403],
      ['/fhir/Patient/other#/Patient/own', 403],
      ['/fhir\\Patient\\other#/Patient/own', 403],
      ['http://other.example/fhir/Patient/other#/Patient/own', 403],
    ])('%s', async (target, status) => {
      expect(await statusOf(target)).toBe(status);
    });
  });

  describe('in a Bundle entry, and refuses', () => {
    let writer: Person;
    beforeAll(async () => {
      writer = await personWith(
        'writer',
        { operation: { id: 'FhirBundle' } },
        { operation: { id: 'FhirConditionalCreate' }, params: { 'resource/type': 'Patient' } },
        {
          params: { 'resource/type': 'Observation' },
          resource: { subject: { $reference: { resourceType: 'Patient', id: 'own' } } },
        },
        {
          'request-method': 'patch',
          params: { 'resource/type': 'Observation' },
          body: { $contains: { op: 'replace', path: '/note' } },
        },
      );
    });
    const asWriter = sendingAs(() => [app, writer]);

    const send = (type: string, ...entry: object[]): Promise<Received> =>
      asWriter('POST', '/fhir', { resourceType: 'Bundle', type, entry });

    const statusIn = (answer: Received): string =>
      answer.status === 200
        ? (answer.json<BundleAnswer>().entry.at(-1)?.response.status.slice(0, 3) ?? '')
        : String(answer.status);

    const binaryOf = (patch: object): object => ({
      resourceType: 'Binary',
      contentType: 'application/json-patch+json',
      data: Buffer.from(JSON.stringify(patch)).toString('base64'),
    });
    const statusPatch = {
      resourceType: 'Parameters',
      parameter: [
        {
          name: 'operation',
          part: [
            { name: 'type', valueCode: 'replace' },
            { name: 'path', valueString: 'Observation.status' },
            { name: 'value', valueCode: 'amended' },
          ],
        },
      ],
    };

    it.each<[string, string, object]>([
      ['a DELETE with a resource', 'DELETE', observation(OWN)],
      ['a FHIRPath patch with a member of a resource', 'PATCH', { ...statusPatch, subject: OWN }],
      ['a JSON patch with a member of a resource', 'PATCH', { ...binaryOf(REPLACE_STATUS), subject: OWN }],
    ])('%s', async (_case, method, resource) => {
      const before = await versionOf('Observation/other');
      for (const type of ['transaction', 'batch'])
        expect([type, statusIn(await send(type, { request: { method, url: 'Observation/other' }, resource }))]).toEqual(
          [type, '403'],
        );
      expect(await versionOf('Observation/other')).toBe(before);
    });

    it('no JSON patch that is granted outside a Bundle', async () => {
      const url = 'Observation/own';
      const resource = binaryOf([{ op: 'replace', path: '/note', value: [{ text: 'x' }] }]);
      await app.put(`/${url}`, { ...observation(OWN), note: [{ text: 'w' }] });
      for (const type of ['transaction', 'batch'])
        expect([type, statusIn(await send(type, { request: { method: 'PATCH', url }, resource }))]).toEqual([
          type,
          '200',
        ]);
    });

    it.each(['Patient/own', 'http://other.example/Patient/own'])(
      'a reference that the fullUrl %s redirects',
      async (fullUrl) => {
        const count = (): Promise<number | undefined> =>
          app.get('/Observation?subject=Patient/other').then((answer) => answer.json<{ total?: number }>().total);
        const before = await count();
        const answer = await send(
          'transaction',
          {
            fullUrl,
            request: { method: 'POST', url: 'Patient', ifNoneExist: '_id=other' },
            resource: { resourceType: 'Patient' },
          },
          {
            fullUrl: 'http://other.example/Observation/new',
            request: { method: 'POST', url: 'Observation' },
            resource: observation(OWN),
          },
        );
        expect(answer.status).toBe(403);
        expect(await count()).toBe(before);
      },
    );

    it('to return a matched resource that the caller may not read', async () => {
      const prefer = { Prefer: 'return=representation' };
      const [own, others] = [observation(OWN), '_id=other'];
      const found = await asWriter('POST', '/Observation', own, { ...prefer, 'If-None-Exist': others });
      expect([found.status, found.text]).toEqual([200, '']);
      expect(found.headers.get('location')).toContain('/Observation/other/');
      const resource = observation(OWN);
      const entry = { request: { method: 'POST', url: 'Observation', ifNoneExist: others }, resource };
      for (const type of ['transaction', 'batch']) {
        const answer = await asWriter('POST', '/fhir', { resourceType: 'Bundle', type, entry: [entry, entry] }, prefer);
        expect([type, statusIn(answer), answer.text.includes('Patient/other')]).toEqual([type, '200', false]);
      }
      // A caller who may read the resource gets it.
      const headers = { ...prefer, 'If-None-Exist': others };
      expect((await app.post('/Observation', own, { headers })).text).toContain('Patient/other');
    });

    it('criteria that begin with a type', async () => {
      const named = await personWith(
        'named',
        { operation: { id: 'FhirBundle' } },
        { params: { 'resource/type': 'Observation', _id: { $not: 'other' } } },
      );
      const before = await versionOf('Observation/other');
      for (const url of ['Observation?_id=other', 'Observation?Observation?_id=other', 'Observation? _id=other']) {
        const body = { resourceType: 'Bundle', type: 'transaction', entry: [{ request: { method: 'DELETE', url } }] };
        expect([url, (await app.post('/fhir', body, { authorization: named.bearer })).status]).toEqual([url, 403]);
      }
      expect(await versionOf('Observation/other')).toBe(before);
    });

    it('nothing if the reference stays unchanged', async () => {
      const entry = { request: { method: 'POST', url: 'Observation' }, resource: observation(OWN) };
      expect(statusIn(await send('transaction', entry))).toBe('201');
    });
  });

  it('with a patch whose media type names another FHIR release', async () => {
    const pattern = { 'request-method': 'patch', body: { $not: { $contains: { path: '/status' } } } };
    const corrector = await personWith('corrector', pattern);
    const { bearer: authorization } = corrector;
    for (const type of ['application/json', 'application/json; fhirVersion=5.0', 'application/json-patch+json']) {
      const headers = { 'Content-Type': type };
      const sent = { authorization, headers, body: REPLACE_STATUS };
      expect([type, (await app.send('PATCH', '/Observation/other', sent)).status]).toEqual([type, 403]);
    }
  });

  describe('with a body that is neither JSON nor YAML', () => {
    const rules: [string, object][] = [
      ['matcho', { matcho: { body: { $not: { status: 'final' } } } }],
      ['matcho', { matcho: { resource: { subject: 'nil?' } } }],
      ['json-schema', { schema: { properties: { body: { required: ['status'] } } } }],
      ['complex', { and: [{ engine: 'matcho', matcho: { body: { $not: { status: 'final' } } } }] }],
      ['matcho', { matcho: { 'request-method': 'post' }, criteria: 'Observation?status={{body.status}}' }],
    ];

    it.each(rules)('the engine %s grants nothing: %j', async (engine, rule) => {
      const { bearer: authorization } = await login(app, 'excluding', { policies: [{ engine, ...rule }] });
      const refused = await app.post('/Observation/$validate', '{"status": "final"', { authorization });
      expect(refused.status).toBe(403);
      const [, decision] = /decisions\/([\da-f-]+)/.exec(refused.text) ?? [];
      expect((await app.get(`/auth/decisions/${decision}`)).text).toContain('the body must be JSON or YAML');
    });

    it('another policy, or another rule of the policy, may grant', async () => {
      const reads = { engine: 'matcho', matcho: { body: { status: 'final' } } };
      const either = { engine: 'complex', or: [reads, { engine: 'allow' }] };
      for (const [userId, policies] of [
        ['of-two', [reads, { engine: 'matcho', matcho: { 'request-method': 'post' } }]],
        ['of-either', [either]],
      ] as const) {
        const { bearer: authorization } = await login(app, userId, { policies });
        expect([userId, (await app.post('/Observation/$validate', '{', { authorization })).status]).toEqual([
          userId,
          400,
        ]);
      }
    });

    it('the form of a search is not passed to policies as body', async () => {
      const matcho = { body: 'nil?', params: { status: 'final' } };
      const { bearer: authorization } = await login(app, 'searching', { policies: [{ engine: 'matcho', matcho }] });
      const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
      const found = await app.post('/Observation/_search', 'status=final', { authorization, headers });
      expect(found.status).toBe(200);
    });
  });

  describe('with the body of an operation', () => {
    // YAML does not allow this tab, but JSON does.
    const text = '{\n\t"resourceType": "Parameters"}';
    let checker: Person;
    beforeAll(async () => {
      checker = await personWith('checker', {
        operation: { id: 'FhirValidate' },
        body: { $not: { resourceType: 'Parameters' } },
      });
    });
    const asOperation = (
      { bearer: authorization }: Person,
      path: string,
      type: string,
      body: string,
    ): Promise<number> =>
      app.send('POST', path, { authorization, headers: { 'Content-Type': type }, body }).then(({ status }) => status);

    it.each(['application/fhir+json', 'application/json; fhirVersion=5.0', 'text/plain', 'text/yaml'])(
      'sent as %s',
      async (type) => {
        expect(await asOperation(checker, '/Observation/$validate', type, text)).toBe(403);
        expect(await asOperation(checker, '/Observation/$validate', type, JSON.stringify(observation(OWN)))).toBe(200);
      },
    );

    it('that looks like the form of a search', async () => {
      const ofPatient = { operation: { id: 'FhirEverything' }, params: { _type: 'Patient' } };
      const guest = await personWith('guest', ofPatient, { operation: { id: 'FhirSearch' } });
      const body = JSON.stringify({ resourceType: 'Parameters', id: '&_type=Patient&' });
      const path = '/Patient/other/$everything';
      expect(await asOperation(guest, path, 'application/x-www-form-urlencoded', body)).toBe(403);
    });
  });

  describe('and refuses query parameters that the route does not use, if a policy requires one', () => {
    let reader: Person;
    beforeAll(async () => {
      reader = await personWith('reader', {
        params: { 'resource/type': { $enum: ['Observation', 'Location', 'SDCDocument'] }, patient: 'own' },
      });
      await storeAll(app, [
        ['SDCDocument/other', { status: 'draft', patient: { resourceType: 'Patient', id: 'other' } }],
      ]);
    });
    const asReader = sendingAs(() => [app, reader]);
    const lenient = { Prefer: 'return=minimal, handling=lenient' };

    it.each([
      ['GET', '/Observation/other'],
      ['GET', '/Observation/other/_history/1'],
      ['GET', '/Observation/_history'],
      ['GET', '/Location'],
      ['DELETE', '/Observation/other'],
    ])('%s %s, even with handling=lenient', async (method, path) => {
      expect((await asReader(method, `${path}?patient=own`, undefined, lenient)).status).toBe(400);
    });

    it.each([
      ['GET', '/Observation/other/$validate'],
      ['GET', '/SDCDocument/other/$amendments'],
      ['POST', '/SDCDocument/other/$amendments-link'],
    ])('%s %s, with or without handling=lenient', async (method, path) => {
      for (const headers of [{}, lenient])
        expect((await asReader(method, `${path}?patient=own`, undefined, headers)).status).toBe(400);
    });

    it('POST /rpc', async () => {
      const sender = await personWith('sender', { params: { _m: 'svc/echo', patient: 'own' } });
      const sent = { authorization: sender.bearer, headers: lenient };
      expect((await app.post('/rpc?patient=own', { method: 'svc/echo', params: {} }, sent)).status).toBe(400);
    });

    it('but ignores them if no policy requires a parameter', async () => {
      expect((await asReader('GET', '/Observation?patient=own', undefined, lenient)).status).toBe(200);
      const open = await personWith('open', { 'request-method': 'get' });
      const sent = { authorization: open.bearer, headers: lenient };
      expect((await app.get('/Observation?unknown=1', sent)).status).toBe(200);
    });
  });
});
