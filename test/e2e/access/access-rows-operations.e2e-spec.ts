import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Person, login } from '../../../testing/world';
import { type Received, type TestApp, startTestApp } from '../../../testing/test-app';
import { sendingAs } from '../../support/callers';

const CRITERIA = [
  'Patient?_id=own-p',
  'Observation?subject=Patient/own-p',
  'SDCDocument?patient=Patient/own-p',
  'Session?user=User/{{user.id}}',
  'SvcTopicDestination?_id=own-hook',
];

const OF_DESTINATION = [
  ['GET', '$status'],
  ['POST', '$retry'],
  ['POST', '$test'],
  ['POST', '$replay?from=1&to=2'],
] as const;

const sdcDocument = (patient: string): object => ({
  resourceType: 'SDCDocument',
  status: 'completed',
  patient: { resourceType: 'Patient', id: patient },
});

interface Bundle {
  readonly total: number;
  readonly entry: readonly { readonly resource: { readonly id: string; readonly user?: { readonly id: string } } }[];
}

describe('operations of callers who are limited to rows', () => {
  let app: TestApp;
  let nurse: Person;

  beforeAll(async () => {
    app = await startTestApp();
    nurse = await login(app, 'nurse', { policies: [{ engine: 'allow', criteria: CRITERIA }] });
    await login(app, 'canary', { policies: [] });
    for (const patient of ['own-p', 'canary-p']) {
      await app.put(`/Patient/${patient}`, { resourceType: 'Patient' });
      await app.put(`/Observation/o-of-${patient}`, {
        resourceType: 'Observation',
        status: 'final',
        code: { text: 'pulse' },
        subject: { reference: `Patient/${patient}` },
      });
      await app.put(`/SDCDocument/d-of-${patient}`, sdcDocument(patient));
      await rpc('add-comment', { target: targetOf(`d-of-${patient}`), user, text: `about ${patient}` }, null);
    }
    // This Condition is in the compartment of the granted patient, but its type is not granted.
    await app.put('/Condition/canary-c', { resourceType: 'Condition', subject: { reference: 'Patient/own-p' } });
    await app.put('/Patient/canary-gone', { resourceType: 'Patient' });
    await app.delete('/Patient/canary-gone');
    await app.put('/SDCDocument/canary-gone', sdcDocument('own-p'));
    await rpc('add-comment', { target: targetOf('canary-gone'), user, text: 'x' }, null);
    await app.delete('/SDCDocument/canary-gone');
  });
  afterAll(() => app.close());

  const user = { resourceType: 'User', id: 'nurse' };
  const targetOf = (id: string): object => ({ resourceType: 'SDCDocument', id });

  const asNurse = sendingAs(() => [app, nurse]);

  /** Sends as the nurse, or as root if `who` is null. */
  const rpc = (method: string, params: object, who: string | null = nurse.bearer): Promise<Received> =>
    app.post('/rpc', { method: `svc.sdc.addendum/${method}`, params }, who === null ? {} : { authorization: who });

  it('$everything returns only the granted part of a compartment', async () => {
    const answer = await asNurse('GET', '/Patient/own-p/$everything');
    const { total, entry } = answer.json<Bundle>();
    expect([answer.status, total]).toEqual([200, entry.length]);
    expect(entry.map(({ resource }) => resource.id)).toEqual(['own-p', 'o-of-own-p', 'd-of-own-p']);
    expect((await app.get('/Patient/own-p/$everything')).text).toContain('canary-c');
    const later = await asNurse('GET', '/Patient/own-p/$everything?_since=2100-01-01');
    expect([later.status, later.json<Bundle>().total]).toEqual([200, 0]);
  });

  it.each(['', '?_since=2100-01-01', '?_timeout=5'])(
    '$everything%s of a hidden patient answers as for one that is not stored',
    async (query) => {
      const missing = await asNurse('GET', `/Patient/no-such/$everything${query}`);
      for (const id of ['canary-p', 'canary-gone']) {
        const hidden = await asNurse('GET', `/Patient/${id}/$everything${query}`);
        expect([hidden.status, hidden.text]).toEqual([404, missing.text.replaceAll('no-such', id)]);
      }
    },
  );

  it('$validate reveals nothing of a hidden resource', async () => {
    const validate = (path: string, body?: object): Promise<Received> =>
      asNurse(body === undefined ? 'GET' : 'POST', `/${path}/$validate`, body);
    expect((await validate('Patient/own-p')).status).toBe(200);
    expect((await validate('Patient', { resourceType: 'Patient' })).status).toBe(200);
    for (const body of [undefined, { resourceType: 'Patient' }]) {
      expect((await validate('Patient/canary-p', body)).status).toBe(404);
    }
    // The rule of SvcTopicDestination would compare the body with stored resources, which may be hidden.
    expect((await validate('SvcTopicDestination', { resourceType: 'SvcTopicDestination' })).status).toBe(403);
  });

  it('$status, $retry, $test and $replay answer only for destinations that may be read', async () => {
    const hook = {
      resourceType: 'SvcTopicDestination',
      meta: { profile: ['http://x.example/StructureDefinition/svctopicdestination-webhook-at-least-once'] },
      kind: 'webhook-at-least-once',
      topic: 'http://x.example/topic',
      parameter: [{ name: 'endpoint', valueUrl: 'http://127.0.0.1:9/' }],
    };
    for (const id of ['own-hook', 'canary-hook']) {
      expect((await app.put(`/SvcTopicDestination/${id}`, hook)).text).toContain(id);
    }
    for (const [method, operation] of OF_DESTINATION) {
      const call = (id: string): Promise<Received> => asNurse(method, `/SvcTopicDestination/${id}/${operation}`);
      const [own, hidden, missing] = [await call('own-hook'), await call('canary-hook'), await call('no-such')];
      expect([operation, own.status, own.text]).toEqual([operation, 200, expect.any(String)]);
      expect([operation, hidden.status, hidden.text]).toEqual([
        ...[operation, 404, missing.text.replaceAll('no-such', 'canary-hook')],
      ]);
    }
  });

  it('$retry, $test and $replay need the right to update the destination, within its criteria', async () => {
    const link = [{ resourceType: 'User', id: 'reader' }];
    const reader = await login(app, 'reader', { policies: [] });
    const policy = (id: string, method: string, criteria: string): Promise<Received> =>
      app.put(`/AccessPolicy/${id}`, { engine: 'matcho', link, matcho: { 'request-method': method }, criteria });
    await policy('reader-calls', '#^(get|post)$', 'SvcTopicDestination');
    const statuses = async (): Promise<number[]> => {
      const answers: number[] = [];
      for (const [method, operation] of OF_DESTINATION) {
        const path = `/SvcTopicDestination/own-hook/${operation}`;
        answers.push((await app.send(method, path, { authorization: reader.bearer })).status);
      }
      return answers;
    };
    expect(await statuses()).toEqual([200, 403, 403, 403]);
    await policy('reader-updates', 'put', 'SvcTopicDestination?_id=canary-hook');
    expect(await statuses()).toEqual([200, 403, 403, 403]);
    await policy('reader-updates', 'put', 'SvcTopicDestination?_id=own-hook');
    expect(await statuses()).toEqual([200, 200, 200, 200]);
  });

  it('an operation that counts all rows is refused', async () => {
    expect((await asNurse('GET', '/SearchParameter/any/$index-status')).status).toBe(403);
  });

  it.each<[string, (target: object, id: string) => object]>([
    ['get-addendums', (target) => ({ target })],
    ['verify', (target) => ({ target })],
    ['add-comment', (target) => ({ target, user, text: 'seen' })],
    ['add-note', (target) => ({ target, user, text: 'seen' })],
    ['create-amendment', (target) => ({ target, user })],
    ['create-addendum', (target) => ({ addendum: { type: 'acme/HandOver', target, user } })],
    ['add-to-history', (_target, id) => ({ resource: { ...sdcDocument('own-p'), id }, user })],
  ])('%s finds only targets that may be read', async (method, paramsOf) => {
    const call = (id: string): Promise<Received> => rpc(method, paramsOf(targetOf(id), id));
    const missing = await call('no-such');
    expect([missing.status, missing.json()]).toMatchObject([422, { error: { message: 'Resource not found' } }]);
    for (const id of ['d-of-canary-p', 'canary-gone']) {
      const hidden = await call(id);
      expect([hidden.status, hidden.text]).toEqual([422, missing.text.replaceAll('no-such', id)]);
    }
    const granted = await call('d-of-own-p');
    expect([granted.status, granted.text]).toEqual([200, expect.not.stringContaining('canary')]);
    const batch = await app.post(
      '/rpc',
      ['d-of-own-p', 'd-of-canary-p'].map((id) => ({
        method: `svc.sdc.addendum/${method}`,
        params: paramsOf(targetOf(id), id),
      })),
      { authorization: nurse.bearer },
    );
    expect(batch.json()).toEqual([
      { result: method === 'create-amendment' ? null : expect.anything() },
      { error: expect.objectContaining({ message: 'Resource not found' }) },
    ]);
  });

  it('methods that were refused above stored nothing', async () => {
    const listed = await rpc('get-addendums', { target: targetOf('d-of-canary-p') }, null);
    expect(listed.json<{ result: unknown[] }>().result).toHaveLength(1);
    expect((await rpc('get-addendums', { target: targetOf('no-such') }, null)).status).toBe(422);
  });

  it('Sessions can be listed and ended only as the row criteria allow', async () => {
    const sessions = async (as?: string): Promise<Bundle> =>
      (await app.get('/Session', as === undefined ? {} : { authorization: as })).json<Bundle>();
    const listed = await sessions(nurse.bearer);
    expect(listed.entry.map(({ resource }) => resource.user?.id)).toEqual(['nurse']);
    const foreign = (await sessions()).entry.find(({ resource }) => resource.user?.id === 'canary')?.resource.id;
    expect(foreign).toBeDefined();
    expect((await asNurse('GET', `/Session/${foreign}`)).status).toBe(404);
    expect((await asNurse('DELETE', `/Session/${foreign}`)).status).toBe(204);
    expect((await asNurse('PATCH', `/Session/${foreign}`, { active: false })).status).toBe(404);
    expect((await app.get(`/Session/${foreign}`)).json<{ active: boolean }>().active).toBe(true);
    expect((await asNurse('DELETE', '/Session')).status).toBe(200);
  });
});
