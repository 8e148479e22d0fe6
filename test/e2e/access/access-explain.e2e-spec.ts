import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Person, login } from '../../../testing/world';
import { type Received, type TestApp, startTestApp } from '../../../testing/test-app';
import { sendingAs } from '../../support/callers';

interface Decision {
  readonly id: string;
  readonly at: string;
  readonly request: object;
  readonly policies: readonly { id: string; engine: string; failed: { path: string; reason: string } }[];
  readonly limited?: boolean;
}

describe('a denial (403)', () => {
  let app: TestApp;
  let other: TestApp;
  let nurse: Person;

  const mine = [{ resourceType: 'User', id: 'nurse' }];
  const policies: Record<string, object> = {
    'a-matcho': {
      engine: 'matcho',
      link: mine,
      matcho: { params: { 'resource/id': 'p-secret' }, user: { data: { ward: 'w1' } } },
    },
    'b-schema': { engine: 'json-schema', link: mine, schema: { required: ['jwt'] } },
    'c-role': { engine: 'allow', roleName: 'clinician', link: mine },
    'd-criteria': { engine: 'allow', link: mine, criteria: 'Patient?_id={{user.data.patient}}' },
    'e-other': { engine: 'allow', link: [{ resourceType: 'User', id: 'somebody' }] },
  };

  beforeAll(async () => {
    app = await startTestApp();
    other = await startTestApp({ databaseUrl: app.databaseUrl });
    nurse = await login(app, 'nurse', { policies: [] });
    for (const [id, policy] of Object.entries(policies)) {
      expect([id, (await app.put(`/AccessPolicy/${id}`, policy)).status]).toEqual([id, 201]);
    }
  });
  afterAll(async () => {
    await other.close();
    await app.close();
  });

  const asNurse = sendingAs(() => [app, nurse]);
  const diagnosticsOf = (answer: Received): string =>
    answer.json<{ issue: { diagnostics: string }[] }>().issue[0]?.diagnostics ?? '';
  const idIn = (text: string): string => /\/auth\/decisions\/([\da-f-]{36})/.exec(text)?.[1] ?? 'no id';
  const decision = async (id: string): Promise<Decision> => (await app.get(`/auth/decisions/${id}`)).json<Decision>();

  it('names a decision, which lists each policy with its first failed clause, in a fixed order', async () => {
    const answer = await asNurse('GET', '/fhir/Patient/p-patient?_summary=text&name=Rivera');
    expect(answer.status).toBe(403);
    const id = idIn(diagnosticsOf(answer));
    expect(await decision(id)).toEqual({
      id,
      at: expect.stringMatching(/^20.*Z$/),
      request: {
        method: 'get',
        operation: 'FhirRead',
        resourceType: 'Patient',
        parameters: ['_summary', 'name'],
        user: 'nurse',
        client: nurse.clientId,
      },
      policies: [
        { id: 'a-matcho', engine: 'matcho', failed: { path: 'matcho.params.resource/id', reason: expect.any(String) } },
        { id: 'b-schema', engine: 'json-schema', failed: { path: 'schema.required', reason: expect.any(String) } },
        { id: 'd-criteria', engine: 'allow', failed: { path: 'criteria', reason: expect.any(String) } },
        { id: 'c-role', engine: 'allow', failed: { path: 'roleName', reason: expect.any(String) } },
      ],
    });
  });

  it('C10.5: says that no policy covers the request, and what to link a policy to', async () => {
    const guest = await login(app, 'guest', { policies: [] });
    const answer = await app.get('/fhir/Patient/p-patient', { authorization: guest.bearer });
    expect([answer.status, await decision(idIn(diagnosticsOf(answer)))]).toEqual([
      403,
      expect.objectContaining({
        policies: [],
        note: 'No AccessPolicy covers this request. Link one to the User "guest" or to the Operation "FhirRead" (docs/how-to/write-policies.md).',
      }),
    ]);
  });

  it('shows no value of the request, of the caller or of a policy', async () => {
    const answer = await asNurse('PUT', '/Patient/p-patient', { name: [{ family: 'Rivera' }] });
    const { text } = await app.get(`/auth/decisions/${idIn(diagnosticsOf(answer))}`);
    for (const value of ['p-patient', 'Rivera', 'p-secret', 'w1', nurse.bearer.slice(7), 'password of nurse']) {
      expect([value, text.includes(value)]).toEqual([value, false]);
    }
  });

  it('can be read from each server', async () => {
    const id = idIn(diagnosticsOf(await asNurse('GET', '/Patient/p1')));
    expect((await other.get(`/auth/decisions/${id}`)).json<Decision>().id).toBe(id);
  });

  it('can be read only with a policy for it', async () => {
    const id = idIn(diagnosticsOf(await asNurse('GET', '/Patient/p1')));
    expect((await asNurse('GET', `/auth/decisions/${id}`)).status).toBe(403);
    expect((await app.get(`/auth/decisions/${id}`, { authorization: null })).status).toBe(401);
    await app.put('/AccessPolicy/explain', {
      engine: 'allow',
      link: [{ resourceType: 'Operation', id: 'AuthDecision' }],
    });
    expect((await asNurse('GET', `/auth/decisions/${id}`)).status).toBe(200);
    await app.delete('/AccessPolicy/explain');
  });

  it('is in the list of the latest denials, of all callers or of one User, for callers with a policy for the list', async () => {
    const listed = async (query = ''): Promise<readonly Decision[]> => {
      const answer = await app.get(`/auth/decisions${query}`);
      expect(answer.status).toBe(200);
      return answer.json<{ decisions: Decision[] }>().decisions;
    };
    const [first, second] = [
      idIn(diagnosticsOf(await asNurse('GET', '/Patient/p-other'))),
      idIn(diagnosticsOf(await asNurse('GET', '/Encounter?status=planned'))),
    ];
    expect((await listed()).slice(0, 2)).toEqual([
      {
        id: second,
        at: expect.any(String),
        request: expect.objectContaining({ operation: 'FhirSearch', parameters: ['status'], user: 'nurse' }),
      },
      { id: first, at: expect.any(String), request: expect.objectContaining({ operation: 'FhirRead' }) },
    ]);
    expect((await listed('?user=nurse'))[0]?.id).toBe(second);
    expect([await listed('?user=nobody'), await listed('?user=nurse&client=none')]).toEqual([[], []]);
    expect((await app.get('/auth/decisions?usr=nurse')).status).toBe(400);
    expect((await app.get('/auth/decisions?user=nurse&user=admin')).status).toBe(400);
    expect((await asNurse('GET', '/auth/decisions')).status).toBe(403);
    for (let count = 0; count < 60; count++) await asNurse('GET', '/Patient/p1');
    expect(await listed()).toHaveLength(50);
  });

  it.each(['00000000-0000-4000-8000-000000000000', 'x', "1' or '1"])(
    'returns 404 for the unknown decision id %s',
    async (id) => {
      expect((await app.get(`/auth/decisions/${encodeURIComponent(id)}`)).status).toBe(404);
    },
  );

  it('of an RPC call names the method', async () => {
    const answer = await asNurse('POST', '/rpc', { method: 'svc/echo', params: { secret: 'x-value' } });
    expect(await decision(idIn(diagnosticsOf(answer)))).toMatchObject({
      request: { operation: 'rpc', rpcMethod: 'svc/echo' },
    });
  });

  it('of Bundle entries is one decision for all entries that are denied alike', async () => {
    await app.put('/AccessPolicy/bundles', {
      engine: 'allow',
      link: [{ resourceType: 'Operation', id: 'FhirBundle' }],
    });
    const put = (id: string): object => ({
      request: { method: 'PUT', url: `Patient/${id}` },
      resource: { resourceType: 'Patient', id },
    });
    const entry = Array.from({ length: 20 }, (_, i) => put(`x${i}`));
    const batch = await asNurse('POST', '/fhir', { resourceType: 'Bundle', type: 'batch', entry });
    const ids = new Set([...batch.text.matchAll(/\/auth\/decisions\/([\da-f-]{36})/g)].map(([, id = '']) => id));
    expect(ids.size).toBe(1);
    expect(await decision([...ids][0] ?? '')).toMatchObject({
      request: { operation: 'FhirUpdate', resourceType: 'Patient' },
    });
    const transaction = await asNurse('POST', '/fhir', {
      resourceType: 'Bundle',
      type: 'transaction',
      entry: [put('y')],
    });
    expect(transaction.status).toBe(403);
    expect((await decision(idIn(diagnosticsOf(transaction)))).request).toMatchObject({ operation: 'FhirUpdate' });
    await app.delete('/AccessPolicy/bundles');
  });

  it('of a read in a transaction can be read later, though the transaction is rolled back', async () => {
    const operations = ['FhirBundle', 'FhirUpdate'].map((id) => ({ resourceType: 'Operation', id }));
    await app.put('/AccessPolicy/writes', { engine: 'allow', link: operations });
    const entry = [
      { request: { method: 'PUT', url: 'Patient/z' }, resource: { resourceType: 'Patient', id: 'z' } },
      { request: { method: 'GET', url: 'Patient/z' } },
    ];
    const answer = await asNurse('POST', '/fhir', { resourceType: 'Bundle', type: 'transaction', entry });
    expect(answer.status).toBe(403);
    const id = idIn(diagnosticsOf(answer));
    expect((await decision(id)).request).toMatchObject({ operation: 'FhirRead' });
    expect((await app.get('/Patient/z')).status).toBe(404);
    await app.delete('/AccessPolicy/writes');
  });

  it('of a caller who is limited to rows says that the operation cannot be limited to rows', async () => {
    await app.put('/AccessPolicy/limited', { engine: 'allow', link: mine, criteria: 'Patient?_id=p1' });
    const answer = await asNurse('GET', '/auth/decisions/none');
    expect(await decision(idIn(diagnosticsOf(answer)))).toMatchObject({
      ...{ limited: true, policies: [] },
      note: expect.stringContaining('cannot keep to some'),
    });
    await app.delete('/AccessPolicy/limited');
  });

  it('is deleted after a day, and when more than 10,000 are stored', async () => {
    const client = await app.connect();
    const id = idIn(diagnosticsOf(await asNurse('GET', '/Patient/p1')));
    await client.query(`update access_denial set denied_at = denied_at - interval '25 hours' where id = $1`, [id]);
    expect((await app.get(`/auth/decisions/${id}`)).status).toBe(404);
    await client.query(
      `insert into access_denial (id, body) select gen_random_uuid(), '{}' from generate_series(1, 10500)`,
    );
    for (let i = 0; i < 100; i++) await asNurse('GET', '/Patient/p1');
    const { rows } = await client.query<{ count: number }>('select count(*)::int as count from access_denial');
    await client.end();
    expect(rows[0]?.count).toBeLessThanOrEqual(10_100);
  });
});

describe('POST /auth/test-policy', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp();
    await app.put('/User/clinician', { userName: 'clinician', password: 'a password', data: { patient: 'p1' } });
    await app.put('/Role/r1', { name: 'clinician', user: { resourceType: 'User', id: 'clinician' } });
    await app.put('/AccessPolicy/stored', {
      engine: 'matcho',
      matcho: { user: { id: 'clinician', password: 'nil?' } },
    });
  });
  afterAll(() => app.close());

  const tried = async (policy: unknown, request: object): Promise<Record<string, unknown>> => {
    const answer = await app.post('/auth/test-policy', { request, policy });
    expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
    return answer.json();
  };
  const read = { 'request-method': 'get', uri: '/fhir/Patient/p1?_format=json', 'user-id': 'clinician' };
  const draft = { engine: 'matcho', matcho: { params: { 'resource/id': '.user.data.patient' }, user: 'present?' } };

  it('returns the result of a draft policy, and the request as policies receive it', async () => {
    expect(await tried(draft, read)).toEqual({
      request: {
        'request-method': 'get',
        scheme: 'http',
        uri: '/fhir/Patient/p1',
        'query-string': '_format=json',
        params: { _format: 'json', 'resource/type': 'Patient', 'resource/id': 'p1' },
        headers: {},
        'user-id': 'clinician',
      },
      operation: { id: 'FhirRead' },
      policy: expect.objectContaining(draft),
      result: { 'eval-result': true },
    });
    expect((await tried(draft, { ...read, uri: '/Patient/p2' })).result).toEqual({
      'eval-result': false,
      failed: { path: 'matcho.params.resource/id', reason: expect.any(String) },
    });
  });

  it.each(['stored', { id: 'stored' }])('evaluates the stored policy %j', async (policy) => {
    expect((await tried(policy, read)).result).toEqual({ 'eval-result': true });
    expect((await tried(policy, { ...read, 'user-id': 'nobody' })).result).toMatchObject({ 'eval-result': false });
  });

  it('evaluates links, roles, RPC calls, claims and criteria', async () => {
    const results = [
      await tried({ engine: 'allow', link: [{ resourceType: 'User', id: 'x' }] }, read),
      await tried({ engine: 'allow', link: [{ resourceType: 'Operation', id: 'FhirRead' }] }, read),
      await tried({ engine: 'allow', link: [{ resourceType: 'Client', id: 'c' }] }, { ...read, 'client-id': 'c' }),
      await tried(
        { engine: 'allow', link: [{ resourceType: 'Client', id: 'c' }] },
        { 'client-id': 'c', uri: '/Patient' },
      ),
      await tried({ engine: 'allow', roleName: 'clinician' }, read),
      await tried({ engine: 'allow', roleName: 'clerk' }, read),
      await tried(
        { engine: 'allow-rpc', type: 'rpc', rpc: { 'svc/echo': true } },
        { 'request-method': 'post', uri: '/rpc', body: { method: 'svc/echo' } },
      ),
      await tried(
        { engine: 'matcho', matcho: { jwt: { sub: 'x' } } },
        { ...read, headers: { Authorization: `Bearer e30.${Buffer.from('{"sub":"x"}').toString('base64url')}.e30` } },
      ),
      await tried(
        { engine: 'allow', criteria: ['Patient?_id={{user.data.patient}}', 'Patient?_id={{user.data.none}}'] },
        read,
      ),
    ].map(({ result }) => result);
    expect(results).toEqual([
      { 'eval-result': false, failed: { path: 'link', reason: expect.any(String) } },
      { 'eval-result': true },
      { 'eval-result': false, failed: { path: 'link', reason: expect.any(String) } },
      { 'eval-result': true },
      { 'eval-result': true },
      { 'eval-result': false, failed: { path: 'roleName', reason: expect.any(String) } },
      { 'eval-result': true },
      { 'eval-result': true },
      { 'eval-result': true, criteria: ['Patient?_id={{user.data.patient}}'] },
    ]);
  });

  it('returns no credentials, and no stored values of the User', async () => {
    const headers = { Authorization: 'Bearer top-secret', Cookie: 'top-secret' };
    const { text } = await app.post('/auth/test-policy', { request: { ...read, headers }, policy: draft });
    expect([text.includes('top-secret'), text.includes('userName')]).toEqual([false, false]);
  });

  it.each<[unknown, number]>([
    [{ request: read, policy: { engine: 'matcho', matcho: { url: 'x' } } }, 422],
    [{ request: read, policy: { engine: 'sql' } }, 422],
    [{ request: read, policy: 'unknown' }, 404],
    [{ request: read }, 422],
    [{ policy: draft }, 422],
    [{ request: { uri: 5 }, policy: draft }, 422],
    [{ request: { headers: ['x'] }, policy: draft }, 422],
    [[], 422],
    ['{', 400],
  ])('refuses %j with %i', async (body, status) => {
    expect((await app.post('/auth/test-policy', body as object)).status).toBe(status);
  });

  it('requires a policy', async () => {
    const { bearer } = await login(app, 'nobody', { policies: [] });
    const answer = await app.post('/auth/test-policy', { request: read, policy: draft }, { authorization: bearer });
    expect(answer.status).toBe(403);
  });
});

describe('POST /auth/test-request', () => {
  let app: TestApp;

  const ana = [{ resourceType: 'User', id: 'ana' }];
  const stored: Record<string, object> = {
    'User/ana': { userName: 'ana', password: 'a password', data: { patient: 'p1' } },
    'User/left': { userName: 'left', password: 'a password', inactive: true },
    'Role/r1': { name: 'clinician', user: ana[0] },
    'Patient/p1': { name: [{ family: 'Rivera' }] },
    'Patient/p2': { name: [{ family: 'Okafor' }] },
    'AccessPolicy/a-observations': {
      engine: 'matcho',
      link: ana,
      matcho: { params: { 'resource/type': 'Observation' } },
    },
    'AccessPolicy/b-clerks': { engine: 'allow', roleName: 'clerk' },
    'AccessPolicy/c-own': {
      engine: 'allow',
      roleName: 'clinician',
      criteria: ['Patient?_id={{user.data.patient}}', 'Patient?_id={{user.data.none}}'],
    },
    'AccessPolicy/d-others': { engine: 'allow', link: [{ resourceType: 'User', id: 'somebody' }] },
  };

  beforeAll(async () => {
    app = await startTestApp();
    for (const [path, body] of Object.entries(stored))
      expect([path, (await app.put(`/${path}`, body)).status]).toEqual([path, 201]);
  });
  afterAll(() => app.close());

  const tested = async (request: object): Promise<Record<string, unknown>> => {
    const answer = await app.post('/auth/test-request', { request });
    expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
    return answer.json();
  };
  const read = { 'request-method': 'get', uri: '/fhir/Patient/p1', 'user-id': 'ana' };
  const failed = (path: string): object => ({ 'eval-result': false, failed: { path, reason: expect.any(String) } });

  it('lists the policies that cover the request, each with its first failed clause', async () => {
    expect(await tested(read)).toEqual({
      request: expect.objectContaining({ uri: '/fhir/Patient/p1', 'user-id': 'ana' }),
      operation: { id: 'FhirRead' },
      decision: { granted: true, rows: 'some', 'finds-resource': true, 'is-stored': true },
      policies: [
        { id: 'a-observations', engine: 'matcho', link: ana, result: failed('matcho.params.resource/type') },
        { id: 'b-clerks', engine: 'allow', roleName: 'clerk', result: failed('roleName') },
        {
          id: 'c-own',
          engine: 'allow',
          roleName: 'clinician',
          result: { 'eval-result': true, criteria: ['Patient?_id={{user.data.patient}}'], 'finds-resource': true },
        },
      ],
    });
  });

  it('shows the difference between a stored resource and the criteria, where the caller gets only 404', async () => {
    const { decision, policies, note } = await tested({ ...read, uri: '/Patient/p2' });
    expect(decision).toEqual({ granted: true, rows: 'some', 'finds-resource': false, 'is-stored': true });
    expect((policies as { result: object }[])[2]?.result).toMatchObject({
      'finds-resource': false,
      reason: 'its id is p2, not p1',
    });
    expect(note).toBe(
      'Patient/p2 is stored, but c-own does not grant it: its id is p2, not p1. So the User "ana" gets the answer for a resource that is not stored.',
    );
  });

  it('distinguishes a resource that is not stored from a hidden one', async () => {
    const { decision, policies, note } = await tested({ ...read, uri: '/Patient/Berg' });
    expect(decision).toEqual({ granted: true, rows: 'some', 'finds-resource': false, 'is-stored': false });
    expect((policies as { result: object }[])[2]?.result).not.toHaveProperty('reason');
    expect(note).toBe(
      'Patient/Berg is not stored. So the User "ana" gets the answer for a resource that is not stored.',
    );
    const put = { 'request-method': 'put', uri: '/Patient/Berg', 'user-id': 'ana', body: {} };
    expect((await tested(put)).note).toBe(
      'Patient/Berg is not stored. PUT creates it, if a criterion finds what is sent.',
    );
  });

  it('says that a hidden resource cannot be replaced, and that criteria are tested on what a write stores', async () => {
    const noteOf = async (method: string, uri: string): Promise<unknown> =>
      (await tested({ 'request-method': method, uri, 'user-id': 'ana', body: { resourceType: 'Patient' } })).note;
    expect(await noteOf('put', '/Patient/p2')).toBe(
      'Patient/p2 is stored, but c-own does not grant it: its id is p2, not p1. So the User "ana" gets 403.',
    );
    const onWrites = 'The criteria must also find the resource as the write would store it, which is not tested here.';
    expect([await noteOf('post', '/Patient'), await noteOf('put', '/Patient/p1')]).toEqual([onWrites, onWrites]);
  });

  it('explains which target of an RPC call the criteria do not find', async () => {
    await app.put('/SDCDocument/d2', { status: 'draft', patient: { resourceType: 'Patient', id: 'p2' } });
    await app.put('/AccessPolicy/e-comments', {
      engine: 'matcho',
      link: ana,
      matcho: { params: { _m: 'svc.sdc.addendum/add-comment' } },
      criteria: 'SDCDocument?patient=Patient/{{user.data.patient}}',
    });
    const params = { target: { resourceType: 'SDCDocument', id: 'd2' } };
    const body = { method: 'svc.sdc.addendum/add-comment', params };
    const { decision, policies } = await tested({ 'request-method': 'post', uri: '/rpc', 'user-id': 'ana', body });
    expect(decision).toMatchObject({ granted: true, rows: 'some', 'finds-resource': false, 'is-stored': true });
    const result: unknown = expect.objectContaining({ reason: 'its patient is Patient/p2, not Patient/p1' });
    expect(policies).toContainEqual(expect.objectContaining({ id: 'e-comments', result }));
    await app.delete('/AccessPolicy/e-comments');
  });

  it('names the search parameters that do not match, with the values of the resource if it has them as text', async () => {
    await login(app, 'warden', { policies: [] });
    await app.put('/Location/w1', {});
    await app.put('/Organization/o1', {});
    await app.put('/Encounter/e1', { status: 'planned', class: { code: 'AMB' }, location: [] });
    await app.put('/Observation/x1', {
      status: 'final',
      code: { coding: [{ system: 'http://loinc.org', code: '8302-2' }] },
      subject: { reference: 'Patient/p1' },
      encounter: { reference: 'Encounter/e1' },
      effectivePeriod: { start: '2026-01-01' },
    });
    const criteria: readonly (readonly [string, string])[] = [
      ['Observation?subject=Patient/p2', 'its subject is Patient/p1, not Patient/p2'],
      [
        'Observation?status=final&code=http://loinc.org|1',
        'its code is http://loinc.org|8302-2, not http://loinc.org|1',
      ],
      ['Observation?device=Device/d1', 'it has no device (needed: Device/d1)'],
      ['Observation?date=2020', 'it does not fit date=2020'],
      [
        'Observation?encounter:Encounter.location=Location/w1',
        'it does not fit encounter:Encounter.location=Location/w1',
      ],
      ['Patient', 'it has no criterion for Observation'],
    ];
    for (const [criterion, reason] of criteria) {
      await app.put('/AccessPolicy/warden', {
        engine: 'allow',
        link: [{ resourceType: 'User', id: 'warden' }],
        criteria: criterion,
      });
      const { policies } = await tested({ uri: '/Observation/x1', 'user-id': 'warden' });
      const [found] = (policies as { id: string; result: object }[]).filter(({ id }) => id === 'warden');
      expect([criterion, found?.result]).toEqual([criterion, expect.objectContaining({ reason })]);
    }
    await app.delete('/AccessPolicy/warden');
  });

  describe('for a caller with few rights', () => {
    const explaining = { engine: 'allow', link: [{ resourceType: 'Operation', id: 'AuthTestRequest' }] };
    const asked = async (bearer: string, uri: string): Promise<Record<string, unknown>> =>
      (await app.post('/auth/test-request', { request: { ...read, uri } }, { authorization: bearer })).json();
    const reads = (criteria: string | readonly string[]): object => ({ engine: 'allow', criteria });

    it('shows nothing of a resource that the caller may not read, and not whether it is stored', async () => {
      const { bearer } = await login(app, 'helper', { policies: [reads('Patient?_id=p3')] });
      await app.put('/AccessPolicy/helper', explaining);
      for (const id of ['p2', 'Berg']) {
        const { decision, policies, note } = await asked(bearer, `/Patient/${id}`);
        expect(decision).toEqual({ granted: true, rows: 'some', 'finds-resource': false });
        expect((policies as { result: object }[])[2]?.result).not.toHaveProperty('reason');
        expect(note).toBe(
          `Patient/${id} is not stored, or hidden from you too. So the User "ana" gets the answer for a resource that is not stored.`,
        );
      }
    });

    it('shows values of the User only if the caller may read the User', async () => {
      const { bearer } = await login(app, 'chart-helper', { policies: [reads('Patient')] });
      const both = await login(app, 'full-helper', { policies: [reads(['Patient', 'User?_id=ana'])] });
      const reasonsOf = async (token: string): Promise<unknown> =>
        ((await asked(token, '/Patient/p2')).policies as { result: { reason?: string } }[]).flatMap(
          ({ result: { reason } }) => reason ?? [],
        );
      expect(await reasonsOf(bearer)).toEqual(['its id is p2, not that of the caller']);
      expect(await reasonsOf(both.bearer)).toEqual(['its id is p2, not p1']);
      await app.delete('/AccessPolicy/helper');
    });
  });

  it('gives the same decision as the server for each request of a User', async () => {
    const { bearer } = await login(app, 'nurse', {
      policies: [
        { engine: 'matcho', matcho: { 'request-method': 'get', params: { 'resource/type': 'Patient' } } },
        { engine: 'allow', criteria: 'Observation' },
      ],
    });
    const requests = ['GET /Patient/p1', 'GET /Patient', 'PUT /Patient/p1', 'GET /Observation', 'GET /Encounter/e1'];
    for (const [method = '', uri = ''] of requests.map((request) => request.split(' '))) {
      const body = method === 'PUT' ? { body: { name: [{ family: 'Other' }] } } : {};
      const { status } = await app.send(method, uri, { authorization: bearer, ...body });
      const { decision } = await tested({ 'request-method': method, uri, 'user-id': 'nurse', ...body });
      const { granted, 'finds-resource': finds } = decision as Record<string, boolean | undefined>;
      expect([method, uri, granted, finds]).toEqual([method, uri, status !== 403 || finds === false, finds]);
    }
    // The criteria do not find this resource. A write of it would get 403, and a read 404.
    const { decision } = await tested({ 'request-method': 'put', uri: '/Patient/p1', 'user-id': 'nurse' });
    expect(decision).toEqual({ granted: true, rows: 'some', 'finds-resource': false, 'is-stored': true });
  });

  it('lists the other policies after one that grants all rows, and names that one', async () => {
    await app.put('/AccessPolicy/all', { engine: 'allow', link: [{ resourceType: 'Operation', id: 'FhirRead' }] });
    const { decision, policies } = await tested(read);
    expect(decision).toEqual({ granted: true, rows: 'all', by: 'all', 'is-stored': true });
    expect((policies as { id: string }[]).map(({ id }) => id)).toEqual(
      expect.arrayContaining(['all', 'a-observations', 'b-clerks', 'c-own']),
    );
    await app.delete('/AccessPolicy/all');
  });

  it.each([
    [{ 'client-id': 'kiosk' }, 'There is no active Client "kiosk": its requests get 401.'],
    [{ 'user-id': 'left' }, 'There is no active User "left": its requests get 401.'],
  ])('says that the caller does not exist or is inactive: %j', async (caller, note) => {
    expect(await tested({ uri: '/Patient/p1', ...caller })).toMatchObject({ note });
  });

  it('says what to link a policy to', async () => {
    await app.put('/Client/kiosk', { grant_types: ['client_credentials'], secret: 'a secret of it' });
    expect(await tested({ uri: '/Patient/p1', 'client-id': 'kiosk' })).toMatchObject({
      decision: { granted: false },
      policies: [],
      note: 'No AccessPolicy covers this request. Link one to the Client "kiosk".',
    });
  });

  it('lists a hundred policies, and counts the rest', async () => {
    await app.post('/fhir', {
      resourceType: 'Bundle',
      type: 'transaction',
      entry: Array.from({ length: 105 }, (_, index) => ({
        request: { method: 'PUT', url: `AccessPolicy/many-${index}` },
        resource: {
          resourceType: 'AccessPolicy',
          engine: 'matcho',
          matcho: { uri: 'x' },
          link: [{ resourceType: 'User', id: 'left' }],
        },
      })),
    });
    const { policies, more } = await tested({ uri: '/Encounter', 'user-id': 'left' });
    expect([(policies as object[]).length, more]).toEqual([100, 7]);
  });

  it.each<[unknown, number]>([
    [{}, 422],
    [{ request: { uri: '/Patient' } }, 422],
    [{ request: { uri: 5, 'user-id': 'ana' } }, 422],
    [[], 422],
    ['{', 400],
  ])('refuses %j with %i', async (body, status) => {
    expect((await app.post('/auth/test-request', body as object)).status).toBe(status);
  });

  it('refuses a full URL with the hint to send the path', async () => {
    const answer = await app.post('/auth/test-request', { request: { ...read, uri: 'http://localhost:3000/Patient' } });
    expect([answer.status, answer.text]).toEqual([422, expect.stringContaining('request.uri must be a path')]);
  });

  it('is not granted by a policy for POST /auth/test-policy', async () => {
    const testers = [{ resourceType: 'Operation', id: 'AuthTestPolicy' }];
    await app.put('/AccessPolicy/testers', { engine: 'allow', link: testers });
    const { bearer } = await login(app, 'nobody', { policies: [] });
    const answer = await app.post('/auth/test-request', { request: read }, { authorization: bearer });
    expect(answer.status).toBe(403);
  });
});
