import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { statementsOf } from '../../support/run-statements';
import { type Received, startTestApp, type TestApp } from '../../../testing/test-app';
import { transactionOn } from '../../support/bundle';

const LOCK_IDS = ['resource-lock-ids', 'resource-read-many-for-update', 'resource-last-versions'];

const basic = (more: object = {}): object => ({ resourceType: 'Basic', code: { text: 'x' }, ...more });
const identified = (value: string, more: object = {}): object => basic({ identifier: [{ value }], ...more });
const put = (id: string, text: string): object => ({
  resource: basic({ id, code: { text } }),
  request: { method: 'PUT', url: `Basic/${id}` },
});
const patch = (id: string, text: string): object => {
  const data = Buffer.from(JSON.stringify({ code: { text } })).toString('base64');
  const resource = { resourceType: 'Binary', contentType: 'application/merge-patch+json', data };
  return { resource, request: { method: 'PATCH', url: `Basic/${id}` } };
};

describe('H4: the number of SQL statements', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startTestApp();
    for (const id of ['a', 'b', 'c', 'd', 'e']) await app.put(`/fhir/Basic/${id}`, basic());
    for (const id of ['one', 'two']) await app.put(`/fhir/Basic/${id}`, identified(id));
    for (const id of ['i', 'j', 'k']) await app.put(`/fhir/Basic/${id}`, identified('many'));
  });
  afterAll(() => app.close());

  const ran = async (status: number, work: () => Promise<Received>): Promise<string[]> => {
    const names = await statementsOf(app, async () => {
      expect((await work()).status).toBe(status);
    });
    return names.filter((name) => name !== 'registry-epoch-read' && !name.startsWith('search-')).map(withoutTables);
  };
  const transact = (entry: readonly object[]): Promise<Received> => transactionOn(app, entry);
  const mergePatch = (id: string, body: object): Promise<Received> =>
    app.send('PATCH', `/fhir/Basic/${id}`, { body, headers: { 'Content-Type': 'application/merge-patch+json' } });

  it('of one resource is one for its lock and one for the write', async () => {
    expect(await ran(201, () => app.post('/fhir/Basic', basic()))).toEqual(['resource-insert']);
    expect(await ran(201, () => app.post('/fhir/Basic', basic({ id: 'new' })))).toEqual([
      ...LOCK_IDS,
      'resource-insert',
    ]);
    expect(await ran(200, () => app.put('/fhir/Basic/a', basic({ code: { text: 'y' } })))).toEqual([
      'resource-read-for-update',
      'resource-update',
    ]);
    expect(await ran(200, () => app.put('/fhir/Basic/a', basic({ code: { text: 'y' } })))).toEqual([
      'resource-read-for-update',
    ]);
    expect(await ran(200, () => mergePatch('a', { code: { text: 'z' } }))).toEqual([
      'resource-read-for-update',
      'resource-update',
    ]);
    expect(await ran(200, () => app.delete('/fhir/Basic/b'))).toEqual(['resource-read-for-update', 'resource-delete']);
    expect(await ran(204, () => app.delete('/fhir/Basic/b'))).toEqual(['resource-read-for-update']);
    expect(await ran(201, () => app.put('/fhir/Basic/b', basic()))).toEqual([
      'resource-read-for-update',
      ...LOCK_IDS,
      'resource-insert',
    ]);
  });

  it('of a conditional write is one for the lock and the match, and one for the write', async () => {
    expect(await ran(201, () => app.post('/fhir/Basic?identifier=none', basic()))).toEqual([
      'resource-lock-conditions',
      'resource-insert',
    ]);
    const changed = identified('one', { code: { text: 'y' } });
    expect(await ran(200, () => app.put('/fhir/Basic?identifier=one', changed))).toEqual([
      'resource-lock-conditions',
      'resource-read-for-update',
      'resource-update',
    ]);
    expect(await ran(200, () => app.delete('/fhir/Basic?identifier=two'))).toEqual([
      'resource-lock-conditions',
      'resource-read-for-update',
      'resource-delete',
    ]);
    const all = { headers: { 'x-conditional-delete': 'remove-all' } };
    expect(await ran(200, () => app.send('DELETE', '/fhir/Basic?identifier=many', all))).toEqual([
      'resource-lock-conditions',
      ...Array.from({ length: 3 }, () => 'resource-read-for-update'),
      ...Array.from({ length: 3 }, () => 'resource-delete'),
    ]);
  });

  it('of a transaction is one for all locks and one for all inserts', async () => {
    const many = Array.from({ length: 50 }, (_, n) => put(`many-${n}`, 'x'));
    expect(await ran(200, () => transact(many))).toEqual(['resource-read-bytes', ...LOCK_IDS, 'resource-insert-many']);
    const entries = [put('new', 'y'), put('other', 'x'), patch('c', 'p'), patch('d', 'p'), put('other', 'z')];
    const remove = { request: { method: 'DELETE', url: 'Basic/e' } };
    expect(await ran(200, () => transact([...entries, remove]))).toEqual([
      ...['resource-read-bytes', ...LOCK_IDS, 'resource-insert', 'resource-delete'],
      // These updates are sent as soon as they are ready, in one pipelined round trip.
      ...['resource-update', 'resource-update', 'resource-update'],
      // The statements of the second write of the same id.
      ...['resource-read-for-update', 'resource-update'],
    ]);
  });

  it('of a token request does not grow: the login, its attempt, the locks, and one insert', async () => {
    await app.put('/Client/ward', { grant_types: ['password'], auth: { password: { refresh_token: true } } });
    await app.put('/User/nurse', { userName: 'nurse', password: 'a long password' });
    const form = { grant_type: 'password', client_id: 'ward', username: 'nurse', password: 'a long password' };
    const login = (): Promise<Received> => app.post('/auth/token', form, { authorization: null });
    expect((await login()).status).toBe(200);
    expect(await ran(200, login)).toEqual([
      'user-find-login',
      'guess-take-try',
      'session-hold-owners',
      'resource-insert-many access-token refresh-token',
      'guess-forget',
    ]);
  });
});

/** Removes the suffix of a statement name. The suffix lists the index tables that the statement inserts rows into. */
const withoutTables = (name: string): string => name.replace(/[+=][a-z]*$/i, '');
