import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Person, login } from '../../../testing/world';
import { type Received, type TestApp, startTestApp } from '../../../testing/test-app';
import { sendingAs } from '../../support/callers';

const WARD = 'SDCDocument?encounter=Encounter/own';

let names = 0;
const newId = (): string => `d${++names}`;

const documentOf = (id: string, ward: string, more: object = {}): object => ({
  resourceType: 'SDCDocument',
  id,
  status: 'completed',
  encounter: { resourceType: 'Encounter', id: ward },
  finding: `told in ${ward}`,
  ...more,
});

describe('S4: the addenda of a document that was never stored', () => {
  let app: TestApp;
  let nurse: Person;

  beforeAll(async () => {
    app = await startTestApp();
    const criteria = [WARD, 'SDCWorkflow?encounter=Encounter/own'];
    nurse = await login(app, 'nurse', { policies: [{ engine: 'allow', criteria }] });
  });
  afterAll(() => app.close());

  const user = { resourceType: 'User', id: 'nurse' };
  const targetOf = (id: string, resourceType = 'SDCDocument'): object => ({ resourceType, id });

  const asNurse = sendingAs(() => [app, nurse]);
  const call = (method: string, params: object, authorization?: string): Promise<Received> =>
    app.post(
      '/rpc',
      { method: `svc.sdc.addendum/${method}`, params },
      authorization === undefined ? {} : { authorization },
    );

  /** Calls add-to-history with a body that is stored nowhere else, as the interface specification allows. */
  const record = async (resource: object): Promise<void> => {
    expect((await call('add-to-history', { resource, user })).status).toBe(200);
  };
  const hiddenRecord = async (): Promise<string> => {
    const id = newId();
    await record(documentOf(id, 'canary'));
    await call('add-comment', { target: targetOf(id), user, text: 'canary comment' });
    return id;
  };

  /** Checks that no route shows the addenda of this target. */
  async function expectUnread(id: string): Promise<void> {
    for (const [method, params] of [
      ['get-addendums', { target: targetOf(id) }],
      ['verify', { target: targetOf(id) }],
      ['add-comment', { target: targetOf(id), user, text: 'x' }],
      ['create-amendment', { target: targetOf(id), user }],
      ['add-to-history', { resource: documentOf(id, 'own'), user }],
    ] as const) {
      const answer = await call(method, params, nurse.bearer);
      expect([method, answer.status, answer.text]).toEqual([method, 422, expect.not.stringContaining('canary')]);
    }
    expect((await asNurse('GET', `/SDCDocument/${id}/$amendments?_format=json`)).status).toBe(404);
  }

  const writes: readonly (readonly [string, (id: string) => Promise<Received>])[] = [
    ['PUT', (id) => asNurse('PUT', `/SDCDocument/${id}`, documentOf(id, 'own'))],
    ['POST with the id', (id) => asNurse('POST', '/SDCDocument', documentOf(id, 'own'))],
    [
      'conditional create',
      (id) => asNurse('POST', '/SDCDocument', documentOf(id, 'own'), { 'If-None-Exist': 'type=none-such' }),
    ],
    ['conditional update', (id) => asNurse('PUT', '/SDCDocument?type=none-such', documentOf(id, 'own'))],
    ...(['transaction', 'batch'] as const).map(
      (type) =>
        [
          type,
          async (id: string): Promise<Received> => {
            const entry = [{ request: { method: 'PUT', url: `SDCDocument/${id}` }, resource: documentOf(id, 'own') }];
            const other = { request: { method: 'POST', url: 'SDCDocument' }, resource: documentOf('x', 'own') };
            const answer = await asNurse('POST', '/fhir', { resourceType: 'Bundle', type, entry: [...entry, other] });
            if (type === 'transaction' || answer.status !== 200) return answer;
            const [first] = answer.json<{ entry: { response: { status: string } }[] }>().entry;
            return { ...answer, status: Number(first?.response.status.slice(0, 3)) };
          },
        ] as const,
    ),
  ];

  it.each(writes)(
    'stay hidden from a caller who may not read the latest snapshot and tries %s',
    async (_name, write) => {
      const id = await hiddenRecord();
      await expectUnread(id);
      const answer = await write(id);
      expect([answer.status, answer.text]).toEqual([403, expect.not.stringContaining('canary')]);
      expect((await app.get(`/SDCDocument/${id}`)).status).toBe(404);
      await expectUnread(id);
    },
  );

  it('stay hidden for a workflow, and without a snapshot', async () => {
    const workflow = { ...documentOf('w1', 'canary'), resourceType: 'SDCWorkflow' };
    await record(workflow);
    const taken = { ...documentOf('w1', 'own'), resourceType: 'SDCWorkflow' };
    expect((await asNurse('PUT', '/SDCWorkflow/w1', taken)).status).toBe(403);
    const id = newId();
    await record(documentOf(id, 'canary', { status: 'in-progress' }));
    expect((await asNurse('PUT', `/SDCDocument/${id}`, documentOf(id, 'own'))).status).toBe(403);
  });

  it.each([
    ['deleted', (id: string): Promise<unknown> => app.delete(`/SDCDocument/${id}`)],
    [
      'deleted and restored to another ward',
      async (id: string): Promise<unknown> => {
        await app.delete(`/SDCDocument/${id}`);
        return app.put(`/SDCDocument/${id}`, documentOf(id, 'other'));
      },
    ],
  ])('stay hidden if the document was %s', async (_name, change) => {
    const id = newId();
    await app.put(`/SDCDocument/${id}`, documentOf(id, 'canary'));
    await record(documentOf(id, 'canary'));
    await change(id);
    expect((await asNurse('PUT', `/SDCDocument/${id}`, documentOf(id, 'own'))).status).toBe(403);
    expect(
      (await asNurse('PATCH', `/SDCDocument/${id}`, { encounter: { resourceType: 'Encounter', id: 'own' } })).status,
    ).toBe(404);
    await expectUnread(id);
  });

  it('are open to a caller who may read the latest snapshot: store the document, read them, add others', async () => {
    const id = newId();
    await record(documentOf(id, 'canary'));
    await record(documentOf(id, 'own'));
    expect((await asNurse('PUT', `/SDCDocument/${id}`, documentOf(id, 'own', { status: 'in-amendment' }))).status).toBe(
      201,
    );
    const read = await call('get-addendums', { target: targetOf(id) }, nurse.bearer);
    expect([read.status, read.json<{ result: unknown[] }>().result.length]).toEqual([200, 2]);
    expect((await asNurse('GET', `/SDCDocument/${id}/$amendments?_format=json`)).status).toBe(200);
    expect((await asNurse('GET', `/SDCDocument/${id}`)).json()).toMatchObject({ meta: { versionId: '1' } });
    expect((await app.get(`/SDCDocument/${id}/_history`)).json<{ total: number }>().total).toBe(1);
  });

  it('stay hidden from a caller who stored the document before they were added', async () => {
    const id = newId();
    expect((await asNurse('PUT', `/SDCDocument/${id}`, documentOf(id, 'own'))).status).toBe(201);
    await record(documentOf(id, 'canary'));
    await expectUnread(id);
    expect((await asNurse('PUT', `/SDCDocument/${id}`, documentOf(id, 'own', { type: 'x' }))).status).toBe(200);
    await expectUnread(id);
    expect((await asNurse('GET', `/SDCDocument/${id}`)).status).toBe(200);
  });

  it('become readable together with the versions when the document is moved to the ward of the caller', async () => {
    const id = newId();
    await app.put(`/SDCDocument/${id}`, documentOf(id, 'canary'));
    await record(documentOf(id, 'canary'));
    expect((await asNurse('PUT', `/SDCDocument/${id}`, documentOf(id, 'own'))).status).toBe(403);
    await expectUnread(id);
    await app.put(`/SDCDocument/${id}`, documentOf(id, 'own', { status: 'in-amendment' }));
    const read = await call('get-addendums', { target: targetOf(id) }, nurse.bearer);
    expect([read.status, read.json<{ result: unknown[] }>().result.length]).toEqual([200, 1]);
  });

  it('stay hidden when the document and a History are written concurrently', async () => {
    for (let round = 0; round < 12; round++) {
      const id = newId();
      const [stored] = await Promise.all([
        asNurse('PUT', `/SDCDocument/${id}`, documentOf(id, 'own')),
        record(documentOf(id, 'canary')),
      ]);
      expect([201, 403]).toContain(stored.status);
      await expectUnread(id);
    }
  });

  it.each([
    ['completed', 'add-to-history'],
    ['in-progress', 'add-to-history'],
    ['completed', 'sign'],
    ['in-progress', 'save'],
  ])(
    'stay readable when another caller tries to hide them with a body of another ward: %s by %s',
    async (status, method) => {
      const id = newId();
      const own = documentOf(id, 'own', { status: 'in-progress' });
      await app.put(`/SDCDocument/${id}`, own);
      const foreign = documentOf(id, 'other', { status });
      const forged =
        method === 'add-to-history'
          ? { method: `svc.sdc.addendum/${method}`, params: { resource: foreign, user } }
          : { method: `svc.sdc/${method}`, params: { document: foreign } };
      const answer = await asNurse('POST', '/rpc', forged);
      expect([answer.status, answer.text]).toEqual([403, expect.stringContaining('rows-not-granted')]);
      expect((await call('add-to-history', { resource: own, user }, nurse.bearer)).status).toBe(200);
      const read = await call('get-addendums', { target: targetOf(id) }, nurse.bearer);
      expect([read.status, read.json<{ result: unknown[] }>().result.length]).toEqual([200, 1]);
      expect((await app.get(`/SDCDocument/${id}`)).json()).toMatchObject({ meta: { versionId: '1' } });
    },
  );
});
