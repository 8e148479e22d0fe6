import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { login } from '../../../testing/world';
import { statementsOf } from '../../support/run-statements';
import { type Received, startTestApp, type TestApp } from '../../../testing/test-app';

const GET = { request: { method: 'GET', url: 'Patient/p' } };
const ENTRIES = 50;
const many = Array.from({ length: ENTRIES }, () => GET);

const mergePatch = (url: string, change: object): object => {
  const data = Buffer.from(JSON.stringify(change)).toString('base64');
  const resource = { resourceType: 'Binary', contentType: 'application/merge-patch+json', data };
  return { resource, request: { method: 'PATCH', url } };
};

/** Number of runs of each statement. */
function countsOf(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names.map((one) => (one.startsWith('search-') ? 'search' : one)))
    counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

describe('the caller of a Bundle', () => {
  let app: TestApp;
  let bearer: string;
  beforeAll(async () => {
    app = await startTestApp();
    await app.put('/fhir/Patient/p', { resourceType: 'Patient' });
    await hire();
  });
  afterAll(() => app.close());

  async function hire(): Promise<void> {
    ({ bearer } = await login(app, 'nurse', { policies: [] }));
    await app.put('/fhir/AccessPolicy/nurse', {
      engine: 'matcho',
      matcho: { user: { id: 'nurse', title: 'nil?' }, session: 'present?' },
      link: [{ resourceType: 'User', id: 'nurse' }],
    });
    expect((await app.get('/fhir/Patient/p', { authorization: bearer })).status).toBe(200);
  }

  const send = (entry: readonly object[], authorization?: string, type = 'batch'): Promise<Received> =>
    app.post('/fhir', { resourceType: 'Bundle', type, entry }, authorization === undefined ? {} : { authorization });
  const statusesOf = (answer: Received): string[] =>
    answer.json<{ entry: { response: { status: string } }[] }>().entry.map(({ response }) => response.status);
  it('is read once for all entries: Session, User and Roles', async () => {
    const names = await statementsOf(app, async () => {
      expect(statusesOf(await send(many, bearer))).toEqual(many.map(() => '200 OK'));
    });
    // The server reads the User, the Session and each Patient. It has the Roles in its cache, which is valid until a
    // User, Client or Role changes.
    expect(countsOf(names)).toEqual({ 'session-find-live': 1, 'resource-read': ENTRIES + 2 });
  });

  it('is read once if it is a Client', async () => {
    await send([GET]);
    const names = await statementsOf(app, async () => {
      expect(statusesOf(await send(many))).toEqual(many.map(() => '200 OK'));
    });
    expect(countsOf(names)).toEqual({ 'registry-epoch-read': 1, 'resource-read': ENTRIES });
  });

  it('is read once if entries write', async () => {
    const entry = Array.from({ length: ENTRIES }, (_, n) => mergePatch('Patient/p', { active: n % 2 === 0 }));
    const names = await statementsOf(app, async () => {
      expect(statusesOf(await send(entry, bearer))).toEqual(many.map(() => '200 OK'));
    });
    expect(countsOf(names)).toMatchObject({ 'session-find-live': 1, 'resource-read': 2 });
  });

  it('is read again after an entry that may have changed it', async () => {
    const nurse = mergePatch('User/nurse', { active: true });
    const names = await statementsOf(app, async () => {
      expect(statusesOf(await send([GET, nurse, GET, GET], bearer))).toEqual(['200 OK', '200 OK', '200 OK', '200 OK']);
    });
    expect(countsOf(names)).toMatchObject({ 'session-find-live': 2 });
  });

  it.each([
    ['its User loses all rights', mergePatch('User/nurse', { title: 'x' }), '200 OK', '403 Forbidden'],
    ['its policy is deleted', { request: { method: 'DELETE', url: 'AccessPolicy/nurse' } }, '200 OK', '403 Forbidden'],
    ['its Session is closed', { request: { method: 'DELETE', url: 'Session' } }, '200 OK', '401 Unauthorized'],
    ['its User is deleted', { request: { method: 'DELETE', url: 'User/nurse' } }, '200 OK', '401 Unauthorized'],
  ])('is refused after an entry by which %s', async (_what, change, written, refused) => {
    await hire();
    expect(statusesOf(await send([GET, change, GET, GET], bearer))).toEqual(['200 OK', written, refused, refused]);
  });

  it('is read once for all reads of a transaction', async () => {
    await hire();
    const names = await statementsOf(app, async () => {
      // Reads of a transaction have 2 s, so these are few.
      const answer = await send([mergePatch('Patient/p', { gender: 'other' }), GET, GET, GET], bearer, 'transaction');
      expect(answer.status).toBe(200);
    });
    expect(countsOf(names)).toMatchObject({ 'session-find-live': 1, 'resource-read': 3 + 2 });
  });

  it('is read again in a transaction that changes it', async () => {
    await hire();
    const answer = await send([GET, mergePatch('User/nurse', { title: 'x' })], bearer, 'transaction');
    expect([answer.status, answer.text]).toEqual([403, expect.stringContaining('Bundle.entry[0]')]);
    expect((await app.get('/fhir/Patient/p', { authorization: bearer })).status).toBe(200);
  });
});
