import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Person, login } from '../../../testing/world';
import { BASE_URL, type Sent, type TestApp, basicHeader, startTestApp } from '../../../testing/test-app';
import { transactionOn } from '../../support/bundle';

interface AuditEvent {
  readonly id: string;
  readonly type: { readonly code: string };
  readonly subtype: readonly [{ readonly code: string }];
  readonly action: string;
  readonly outcome: string;
  readonly agent: readonly { readonly altId?: string; readonly policy?: readonly string[] }[];
  readonly entity?: readonly {
    readonly what?: { readonly reference?: string };
    readonly query?: string;
    readonly name?: string;
  }[];
}

/** AuditEvents that a search finds, oldest first. */
async function recorded(app: TestApp, query: string): Promise<AuditEvent[]> {
  const answer = await app.get(`/AuditEvent?_count=1000&${query}`);
  const { entry = [] } = answer.json<{ entry?: { resource: AuditEvent }[] }>();
  return entry.map(({ resource }) => resource).reverse();
}

const shortOf = ({ subtype, outcome, agent, entity = [] }: AuditEvent): object => ({
  what: subtype[0].code,
  outcome,
  who: agent.flatMap(({ altId }) => altId ?? []),
  to: entity.flatMap(({ what }) => what?.reference ?? []),
});

const jsonHeader = { 'Content-Type': 'application/json' };
const anonymous: Sent = { authorization: null, headers: jsonHeader };

describe('the audit trail', () => {
  let app: TestApp;
  let nurse: Person;
  beforeAll(async () => {
    app = await startTestApp();
    nurse = await login(app, 'nurse', { policies: [] });
  });
  afterAll(() => app.close());

  it('records an issued token with its User, its Client and its Session', async () => {
    const [event] = await recorded(app, 'altid=User/nurse&subtype=110122&outcome=0');
    const session = event?.entity?.[0]?.what?.reference ?? '';
    expect(event === undefined ? undefined : shortOf(event)).toEqual({
      what: '110122',
      outcome: '0',
      who: ['Client/client-of-nurse', 'User/nurse'],
      to: [expect.stringMatching(/^Session\//)],
    });
    expect(event?.agent.at(-1)?.policy).toEqual([`urn:uuid:${session.replace('Session/', '')}`]);
  });

  it('records a refused token with the User and the Client that it was requested for, if they exist', async () => {
    const ask = { grant_type: 'password', client_id: nurse.clientId, client_secret: nurse.clientSecret };
    await app.post('/auth/token', { ...ask, username: 'nurse', password: 'canary-wrong' }, anonymous);
    await app.post('/auth/token', { ...ask, username: 'canary-name', password: 'x' }, anonymous);
    const refused = await recorded(app, 'subtype=110122&outcome=4');
    expect(refused.map(shortOf)).toMatchObject([
      { who: ['Client/client-of-nurse', 'User/nurse'] },
      { who: ['Client/client-of-nurse'] },
    ]);
    expect(JSON.stringify(refused)).not.toContain('canary');
  });

  it('records changes of resources that decide about rights', async () => {
    await app.put('/Role/night', { name: 'night', user: { resourceType: 'User', id: 'nurse' } });
    await app.put('/Patient/quiet', {});
    await app.delete('/Role/night');
    expect((await recorded(app, 'entity=Role/night')).map(shortOf)).toMatchObject([
      { what: 'create', outcome: '0', who: ['Client/root'] },
      { what: 'delete', outcome: '0', who: ['Client/root'] },
    ]);
    expect(await recorded(app, 'patient=quiet')).toEqual([]);
  });

  it('records denials: 403, invalid credentials, entries of a batch', async () => {
    await app.get('/Patient/p1', { authorization: nurse.bearer });
    await app.get('/Patient/p2', { authorization: 'Bearer canary-token' });
    await app.get('/Patient/p3', { authorization: null });
    await app.put('/AccessPolicy/batches', {
      engine: 'allow',
      link: [{ resourceType: 'Operation', id: 'FhirBundle' }],
    });
    const batch = {
      resourceType: 'Bundle',
      type: 'batch',
      entry: [{ request: { method: 'DELETE', url: 'Patient/p4' } }],
    };
    await app.post('/fhir', batch, { authorization: nurse.bearer });
    const denied = await recorded(app, 'outcome=4&subtype:not=110122');
    expect(denied.map(shortOf)).toMatchObject([
      { what: 'read', who: ['Client/client-of-nurse', 'User/nurse'], to: ['Patient/p1'] },
      { what: 'read', who: [], to: ['Patient/p2'] },
      { who: ['Client/client-of-nurse', 'User/nurse'], to: ['Patient/p4'] },
    ]);
    expect(JSON.stringify(denied)).not.toContain('canary');
  });

  it('records the method and the target of a denied RPC call, alone and in a batch', async () => {
    await app.put('/AccessPolicy/echo', { engine: 'allow-rpc', rpc: { 'svc/echo': true }, type: 'rpc' });
    const params = { target: { resourceType: 'SDCDocument', id: 'hidden' } };
    const call = { method: 'svc.sdc.addendum/get-addendums', params };
    const asNurse = { authorization: nurse.bearer, headers: jsonHeader };
    expect((await app.post('/rpc', call, asNurse)).status).toBe(403);
    expect((await app.post('/rpc', [call, { method: 'svc/echo' }], asNurse)).status).toBe(200);
    const events = await recorded(app, 'entity=SDCDocument/hidden&outcome=4');
    expect(events.map(({ entity = [] }) => entity.flatMap(({ name }) => name ?? []))).toEqual([
      ['rpc', call.method],
      ['rpc', call.method],
    ]);
  });

  it('limits the number of records of invalid tokens per minute', async () => {
    const before = (await recorded(app, 'outcome=4')).length;
    for (let count = 0; count < 100; count++) await app.get('/Patient/flood', { authorization: 'Bearer nonsense' });
    const after = (await recorded(app, 'outcome=4')).length;
    expect(after - before).toBeGreaterThan(0);
    // The limit is per minute, and a new minute may begin meanwhile.
    expect(after - before).toBeLessThanOrEqual(120);
  });

  it('records the end of a Session', async () => {
    const { bearer } = await login(app, 'leaving', { policies: [] });
    await app.delete('/Session', { authorization: bearer });
    expect((await recorded(app, 'altid=User/leaving')).map(shortOf)).toMatchObject([
      { what: '110122', outcome: '0' },
      { what: '110123', outcome: '0' },
    ]);
  });

  it('cannot be changed or deleted', async () => {
    const [{ id }] = (await recorded(app, '_sort=_lastUpdated')) as [AuditEvent];
    const forged = { resourceType: 'AuditEvent', id };
    const calls = [
      await app.put(`/fhir/AuditEvent/${id}`, forged),
      await app.send('PATCH', `/AuditEvent/${id}`, { body: { action: 'E' } }),
      await app.delete(`/AuditEvent/${id}`),
      await app.delete('/AuditEvent?outcome=4'),
      await app.put('/AuditEvent?outcome=4', forged),
    ];
    expect(calls.map(({ status }) => status)).toEqual([405, 405, 405, 405, 405]);
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      const url = `AuditEvent/${id}`;
      const entry = [{ request: { method, url }, resource: forged }];
      const answer = await transactionOn(app, entry);
      expect({ method, status: answer.status }).toEqual({ method, status: 405 });
    }
  });

  it('withholds a response that it cannot record', async () => {
    await recorded(app, '_count=1');
    const database = await app.connect();
    await database.query(`alter table resource add constraint no_audit check (type <> 'AuditEvent') not valid`);
    const denied = await app.get('/Patient/p1', { authorization: nurse.bearer });
    const changed = await app.put('/Role/unrecorded', { name: 'x', user: { resourceType: 'User', id: 'nurse' } });
    await database.query('alter table resource drop constraint no_audit');
    await database.end();
    expect([denied.status, denied.headers.get('Retry-After')]).toEqual([503, '1']);
    expect(changed.status).toBe(500);
    expect((await app.get('/Role/unrecorded')).status).toBe(404);
  });

  it('contains only valid AuditEvents', async () => {
    const all = await recorded(app, '');
    expect(all.length).toBeGreaterThan(10);
    for (const event of all) {
      // The event is sent without the tag of the server, which no caller may send.
      const sent = { ...event, meta: undefined };
      const { issue } = (await app.post('/AuditEvent/$validate', sent)).json<{ issue: { severity: string }[] }>();
      expect(issue.map(({ severity }) => severity).filter((severity) => severity !== 'information')).toEqual([]);
    }
  });
});

describe('SVC_AUDIT=all', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp({ environment: { SVC_AUDIT: 'all' } });
    await app.put('/Patient/p1', { name: [{ family: 'Canary' }] });
    await app.put('/Observation/o1', {
      status: 'final',
      code: { text: 'x' },
      subject: { reference: 'Patient/p1' },
    });
  });
  afterAll(() => app.close());

  it('records reads, searches, operations and writes with the patient', async () => {
    await app.get('/fhir/Observation/o1', { headers: { 'Accept-Encoding': 'gzip' } });
    await app.get('/Observation/o1/_history/1');
    await app.get('/Observation?patient=p1&code=x&access_token=hush');
    await app.get('/Patient/p1/Observation');
    await app.get('/Patient/p1/$everything');
    await app.delete('/Observation/o1');
    const events = await recorded(app, 'patient=p1');
    expect(events.map(({ subtype, action }) => `${subtype[0].code} ${action}`)).toEqual([
      'create C',
      'create C',
      'read R',
      'vread R',
      'search-type E',
      'search-type E',
      'operation E',
      'delete D',
    ]);
    const queries = events.flatMap(({ entity = [] }) => entity.flatMap(({ query }) => query ?? []));
    expect(queries.map((query) => Buffer.from(query, 'base64').toString())).toEqual([
      'patient=p1&code=x&access_token=***',
    ]);
    expect(JSON.stringify(events)).not.toContain('Canary');
  });

  it('records each entry of a batch, with its outcome', async () => {
    const entry = [
      { request: { method: 'GET', url: 'Patient/p1' } },
      { request: { method: 'PUT', url: 'Patient/p2' }, resource: { resourceType: 'Patient', id: 'p2' } },
      { request: { method: 'GET', url: 'Patient/none' } },
    ];
    const before = new Set((await recorded(app, '')).map(({ id }) => id));
    await app.post('/fhir', { resourceType: 'Bundle', type: 'batch', entry });
    const events = (await recorded(app, '')).filter(({ id, type }) => !before.has(id) && type.code !== '110101');
    expect(events.map(shortOf)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ what: 'read', outcome: '0', to: ['Patient/p1'] }),
        expect.objectContaining({ what: 'create', outcome: '0', to: ['Patient/p2'] }),
        expect.objectContaining({ what: 'read', outcome: '4', to: ['Patient/none'] }),
      ]),
    );
  });

  /** Records of one request, without those of reading the trail. */
  const recordedOf = async (requestId: string): Promise<object[]> =>
    (await recorded(app, `entity:identifier=${requestId}`)).map(shortOf);

  it('records the reads of a batch, even after its writes', async () => {
    const entry = [
      { request: { method: 'PUT', url: 'Patient/p5' }, resource: { resourceType: 'Patient', id: 'p5' } },
      { request: { method: 'GET', url: 'Patient/p1' } },
      { request: { method: 'GET', url: 'Observation?subject=Patient/p1' } },
    ];
    const headers = { 'X-Request-Id': 'write-then-read' };
    await app.post('/fhir', { resourceType: 'Bundle', type: 'batch', entry }, { headers });
    const events = await recordedOf('write-then-read');
    expect(events).toHaveLength(4);
    expect(events).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ what: 'create', to: ['Patient/p5'] }),
        expect.objectContaining({ what: 'read', to: ['Patient/p1'] }),
        expect.objectContaining({ what: 'search-type', to: ['Patient/p1'] }),
        expect.objectContaining({ what: 'batch' }),
      ]),
    );
  });

  it('records an RPC batch, even after its writes', async () => {
    await app.put('/SDCDocument/d1', {
      type: 'vitals',
      status: 'completed',
      patient: { id: 'p1', resourceType: 'Patient' },
    });
    const target = { resourceType: 'SDCDocument', id: 'd1' };
    const calls = [
      {
        method: 'svc.sdc.addendum/add-note',
        params: { target, user: { resourceType: 'User', id: 'admin' }, text: 'x' },
      },
      { method: 'svc.sdc.addendum/get-addendums', params: { target } },
    ];
    expect(
      (await app.post('/rpc', calls, { headers: { ...jsonHeader, 'X-Request-Id': 'note-then-read' } })).status,
    ).toBe(200);
    expect(await recordedOf('note-then-read')).toMatchObject([{ what: 'create' }, { what: 'operation' }]);
  });

  it.each([
    ['svc.sdc.addendum/get-addendums', { target: { resourceType: 'SDCDocument', id: 'read' } }, 'SDCDocument/read'],
    ['svc.sdc.addendum/verify', { target: { resourceType: 'SDCWorkflow', id: 'read' } }, 'SDCWorkflow/read'],
    ['svc.sdc/get-workflow-addendums', { id: 'by-id' }, 'SDCWorkflow/by-id'],
    ['svc.sdc/add-note', { id: 'by-id' }, 'SDCDocument/by-id'],
    ['svc.sdc/add-workflow-note', { id: 'noted' }, 'SDCWorkflow/noted'],
    ['svc.sdc/amend', { id: 'amended' }, 'SDCDocument/amended'],
    ['svc.sdc/save', { document: { id: 'saved' } }, 'SDCDocument/saved'],
    ['svc.sdc/sign', { document: { id: 'signed' } }, 'SDCDocument/signed'],
    ['svc.sdc.addendum/add-to-history', { resource: { resourceType: 'SDCDocument', id: 'old' } }, 'SDCDocument/old'],
    [
      'svc.sdc.addendum/create-addendum',
      { addendum: { target: { resourceType: 'SDCDocument', id: 'custom' } } },
      'SDCDocument/custom',
    ],
  ])('records the method and the target of %s, even if the call fails', async (method, params, target) => {
    await app.post('/rpc', { method, params });
    const [event] = (await recorded(app, `entity=${target}`)).filter(({ subtype }) => subtype[0].code === 'operation');
    expect(event?.entity?.flatMap(({ name }) => name ?? [])).toEqual(['rpc', method]);
  });

  it('records each method and target of an RPC batch, but no unknown method name', async () => {
    const read = (id: string): object => ({
      method: 'svc.sdc.addendum/get-addendums',
      params: { target: { resourceType: 'SDCDocument', id } },
    });
    await app.post('/rpc', [read('b1'), read('b2'), read('b1'), { method: 'canary-method' }, { method: 'svc/echo' }]);
    const [event] = await recorded(app, 'entity=SDCDocument/b2');
    expect(event === undefined ? undefined : shortOf(event)).toMatchObject({
      to: ['SDCDocument/b1', 'SDCDocument/b2'],
    });
    expect(event?.entity?.flatMap(({ name }) => name ?? [])).toEqual([
      'rpc',
      'svc.sdc.addendum/get-addendums',
      'svc/echo',
    ]);
  });

  it('names the patient for every form of reference that a search finds', async () => {
    const observation = { status: 'final', code: { text: 'x' } };
    await app.put('/SDCDocument/d2', { patient: { id: 'p6', resourceType: 'Patient' } });
    await app.put('/Observation/absolute', {
      ...observation,
      subject: { reference: `${BASE_URL}/fhir/Patient/p6` },
    });
    await app.get('/Observation/absolute');
    await app.get('/Patient?_id=p6');
    const events = (await recorded(app, 'patient=p6')).map(shortOf);
    expect(events).toMatchObject([{ what: 'create' }, { what: 'create' }, { what: 'read' }, { what: 'search-type' }]);
  });

  it('records a link with an invalid token', async () => {
    const headers = { 'X-Request-Id': 'stale-link' };
    const answer = await app.get('/SDCDocument/d1/$amendments?link-token=canary', { authorization: null, headers });
    expect(answer.status).toBe(401);
    const events = await recorded(app, 'entity:identifier=stale-link');
    expect(events.map(shortOf)).toEqual([{ what: 'operation', outcome: '4', who: [], to: ['SDCDocument/d1'] }]);
    expect(JSON.stringify(events)).not.toContain(Buffer.from('canary').toString('base64').slice(0, 6));
  });

  it('records a read of the audit trail by one further record', async () => {
    await app.get('/AuditEvent?patient=p1');
    const used = await recorded(app, 'type=110101');
    expect(used.length).toBeGreaterThan(0);
    const again = await recorded(app, 'type=110101');
    expect(again.length - used.length).toBe(1);
  });

  it('records nothing for routes without credentials', async () => {
    const before = (await recorded(app, '')).length;
    for (const path of ['/health', '/metadata', '/.well-known/jwks.json', '/api-json']) {
      expect((await app.get(path, { authorization: null })).status).toBe(200);
    }
    expect((await recorded(app, '')).length - before).toBe(1);
  });

  it('records a wrong secret of an existing Client, but not the secret', async () => {
    await app.get('/Patient/p1', { authorization: basicHeader('root', 'wrong-canary') });
    const refused = await recorded(app, 'altid=Client/root&outcome=4');
    expect(refused.at(-1)?.subtype[0].code).toBe('read');
    expect(JSON.stringify(refused)).not.toContain('canary');
  });
});

describe('SVC_AUDIT=off', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp({ environment: { SVC_AUDIT: 'off' } });
  });
  afterAll(() => app.close());

  it('records nothing', async () => {
    await login(app, 'nurse');
    await app.get('/Patient/p1', { authorization: 'Bearer nonsense' });
    expect(await recorded(app, '')).toEqual([]);
  });
});
