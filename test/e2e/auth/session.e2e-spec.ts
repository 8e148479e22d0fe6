import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Person, login } from '../../../testing/world';
import { type Received, type TestApp, startTestApp } from '../../../testing/test-app';
import { uploadAround } from '../../support/slow-upload';

interface Session {
  readonly id: string;
  readonly meta: { readonly versionId: string };
  readonly active: boolean;
  readonly start: string;
  readonly end?: string;
  readonly exp: number;
  readonly [member: string]: unknown;
}

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

interface Opened extends Tokens {
  readonly bearer: string;
  readonly id: string;
}

const anyInstant: unknown = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

const anHourAgo = (): Date => new Date(Date.now() - 3_600_000);

describe('Session', () => {
  let app: TestApp;
  /** A User who has all rights. */
  let nurse: Person;
  /** A User who may only log in. */
  let guest: Person;

  beforeAll(async () => {
    app = await startTestApp();
    nurse = await login(app, 'nurse');
    guest = await login(app, 'guest', { policies: [] });
  });
  afterAll(() => app.close());

  const askToken = (person: Person, parameters: object): Promise<Received> =>
    app.post(
      '/auth/token',
      { client_id: person.clientId, client_secret: person.clientSecret, ...parameters },
      { authorization: null },
    );

  const open = (person = nurse): Promise<Opened> => {
    const { userId: username, password } = person;
    return opened(() => askToken(person, { grant_type: 'password', username, password }));
  };

  const refresh = (token: Tokens, person = nurse): Promise<Received> =>
    askToken(person, { grant_type: 'refresh_token', refresh_token: token.refresh_token });

  /** The tokens of an exchange, with the Session that it opened. */
  async function opened(exchange: () => Promise<Received>): Promise<Opened> {
    const before = new Set((await search('_count=1000')).map(({ id }) => id));
    const answer = await exchange();
    expect(answer.status).toBe(200);
    const tokens = answer.json<Tokens>();
    const id = (await search('_count=1000')).map((session) => session.id).find((found) => !before.has(found));
    return { ...tokens, bearer: `Bearer ${tokens.access_token}`, id: id ?? 'no Session' };
  }

  async function search(query: string): Promise<Session[]> {
    const answer = await app.get(`/Session?${query}`);
    expect({ status: answer.status, text: answer.text }).toEqual({ status: 200, text: expect.any(String) });
    return (answer.json<{ entry?: { resource: Session }[] }>().entry ?? []).map(({ resource }) => resource);
  }

  const read = async (id: string): Promise<Session> => (await app.get(`/Session/${id}`)).json<Session>();

  /** Whether this token and its refresh token are still valid. */
  async function lives({ bearer, refresh_token: token }: Opened, person = nurse): Promise<unknown[]> {
    const call = await app.get('/Session?_count=1', { authorization: bearer });
    const exchange = await askToken(person, { grant_type: 'refresh_token', refresh_token: token });
    return [call.status, exchange.status, exchange.json<{ error?: string }>().error];
  }
  const ALIVE = [200, 200, undefined];
  const DEAD = [401, 400, 'invalid_grant'];

  describe('of a token', () => {
    it('has user, client, grant and times, but no token', async () => {
      const { id, access_token: token } = await open();
      const session = await read(id);
      expect(session).toEqual({
        resourceType: 'Session',
        id,
        meta: { versionId: '1', lastUpdated: anyInstant, createdAt: anyInstant },
        type: 'password',
        active: true,
        user: { resourceType: 'User', id: nurse.userId },
        client: { resourceType: 'Client', id: nurse.clientId },
        start: anyInstant,
        exp: Math.floor(Date.parse(session.start) / 1000) + 3600,
        jti: expect.any(String),
        iss: 'http://svc.example',
      });
      expect(JSON.stringify(session)).not.toContain(token);
    });

    it('is created for each token', async () => {
      const ids = [(await open()).id, (await open()).id];
      expect(new Set(ids).size).toBe(2);
    });

    it('is closed by a refresh, which creates a child Session', async () => {
      const parent = await open();
      const child = await opened(() => refresh(parent));
      expect([await read(parent.id), await read(child.id)]).toEqual([
        expect.objectContaining({ active: false, end: anyInstant, type: 'password' }),
        expect.objectContaining({
          active: true,
          type: 'refresh_token',
          parent: { resourceType: 'Session', id: parent.id },
          user: { resourceType: 'User', id: nurse.userId },
          client: { resourceType: 'Client', id: nurse.clientId },
        }),
      ]);
      expect(await search(`parent=Session/${parent.id}`)).toEqual([await read(child.id)]);
    });

    it('expires, and stays readable', async () => {
      const { id, bearer } = await app.atTime(anHourAgo, () => open());
      expect((await app.get('/Session', { authorization: bearer })).status).toBe(401);
      expect((await app.delete('/Session', { authorization: bearer })).status).toBe(401);
      expect((await read(id)).exp).toBeLessThanOrEqual(Date.now() / 1000);
    });
  });

  describe('in a search', () => {
    const owners = (sessions: readonly Session[]): unknown[] => [...new Set(sessions.map(({ user }) => user))];

    it('is found by user', async () => {
      const ids = [(await open(guest)).id, (await open(guest)).id];
      const found = await search(`user=User/${guest.userId}&_count=100`);
      expect(found.map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
      expect(owners(found.map((session) => ({ ...session, user: JSON.stringify(session.user) })))).toEqual([
        '{"resourceType":"User","id":"guest"}',
      ]);
      expect(await search(`user=${guest.userId}&_count=100`)).toEqual(found);
    });

    it('is found by client', async () => {
      const { id } = await open(guest);
      const found = await search(`client=Client/${guest.clientId}&_count=100`);
      expect(found.map((session) => session.id)).toContain(id);
      expect(new Set(found.map(({ client }) => JSON.stringify(client)))).toEqual(
        new Set(['{"resourceType":"Client","id":"client-of-guest"}']),
      );
    });

    it('is found by active', async () => {
      const [living, closed] = [await open(guest), await open(guest)];
      await app.delete('/Session', { authorization: closed.bearer });
      const found = async (active: boolean): Promise<string[]> =>
        (await search(`user=User/guest&active=${active}&_count=100`)).map(({ id }) => id);
      const [open_, over] = [await found(true), await found(false)];
      expect([open_.includes(living.id), open_.includes(closed.id)]).toEqual([true, false]);
      expect([over.includes(living.id), over.includes(closed.id)]).toEqual([false, true]);
    });

    it('of any User is listed with a policy, and none without one', async () => {
      const listed = await app.get('/Session?_count=100', { authorization: nurse.bearer });
      const users = listed
        .json<{ entry: { resource: { user: { id: string } } }[] }>()
        .entry.map(({ resource }) => resource.user.id);
      expect([...new Set(users)].sort()).toEqual(['guest', 'nurse']);
      expect((await app.get('/Session', { authorization: guest.bearer })).status).toBe(403);
    });
  });

  describe('DELETE /Session (interface, "Sessions")', () => {
    it.each(['/Session', '/fhir/Session', '/Session/'])('on %s closes only the Session of the token', async (path) => {
      const [mine, other] = [await open(), await open()];
      const answer = await app.delete(path, { authorization: mine.bearer });
      expect({ status: answer.status, type: answer.headers.get('content-type'), body: answer.json() }).toEqual({
        status: 200,
        type: expect.stringMatching(/^application\/(fhir\+)?json/),
        body: expect.objectContaining({ resourceType: 'Session', id: mine.id, active: false, end: anyInstant }),
      });
      expect(await read(mine.id)).toEqual(answer.json());
      expect(await lives(mine)).toEqual(DEAD);
      expect((await app.delete(path, { authorization: mine.bearer })).status).toBe(401);
      expect(await lives(other)).toEqual(ALIVE);
    });

    it('requires no policy', async () => {
      const mine = await open(guest);
      expect((await app.delete('/Session', { authorization: mine.bearer })).status).toBe(200);
      expect(await lives(mine, guest)).toEqual(DEAD);
    });

    it('ends an upload that the Session began', async () => {
      const mine = await open();
      const status = await uploadAround(app, mine.bearer, async () => {
        expect((await app.delete('/Session', { authorization: mine.bearer })).status).toBe(200);
      });
      expect([status, (await app.get('/fhir/Patient/uploaded')).status]).toEqual([401, 404]);
    });

    it('called concurrently creates one version with one end time', async () => {
      const mine = await open();
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => app.delete('/Session', { authorization: mine.bearer })),
      );
      const closed = answers.filter(({ status }) => status === 200);
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set(closed.length === 8 ? [200] : [200, 401]));
      expect(new Set(closed.map(({ text }) => text)).size).toBe(1);
      expect((await read(mine.id)).meta.versionId).toBe('2');
    });

    it.each([
      ['no token', null, 'Bearer realm="svc"'],
      ['an unknown token', 'Bearer unknown', 'Bearer realm="svc", error="invalid_token"'],
      ['wrong Basic credentials', `Basic ${Buffer.from('root:wrong').toString('base64')}`, 'Bearer realm="svc"'],
    ])('with %s is refused', async (_case, authorization, challenge) => {
      const answer = await app.delete('/Session', { authorization });
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, challenge]);
    });

    it('with Basic credentials is refused, since they have no Session', async () => {
      expect((await app.delete('/Session')).status).toBe(401);
    });

    it('with a query is refused, and the Session stays open', async () => {
      const { bearer } = await login(app, 'conditional');
      expect((await app.delete('/Session?user=somebody', { authorization: bearer })).status).toBe(400);
      expect((await app.get('/Session', { authorization: bearer })).status).toBe(200);
    });
  });

  describe('by the resource API', () => {
    it('is closed by DELETE /Session/<id>', async () => {
      const mine = await open();
      expect((await app.delete(`/Session/${mine.id}`, { authorization: nurse.bearer })).status).toBe(200);
      expect(await lives(mine)).toEqual(DEAD);
      expect((await app.get(`/Session/${mine.id}`)).status).toBe(410);
    });

    it('is closed by a PUT with active false, and the server sets the end', async () => {
      const mine = await open();
      const sent = { ...(await read(mine.id)), active: false, end: '1999-01-01T00:00:00.000Z' };
      const answer = await app.put(`/fhir/Session/${mine.id}`, sent, { authorization: nurse.bearer });
      const closed = answer.json<Session>();
      expect([answer.status, closed.active, Date.parse(closed.end ?? '') >= Date.parse(closed.start)]).toEqual([
        200,
        false,
        true,
      ]);
      expect(await lives(mine)).toEqual(DEAD);
    });

    it('accepts a change of ctx while it is open', async () => {
      const mine = await open();
      const { user, client, ...rest } = await read(mine.id);
      const answer = await app.put(`/Session/${mine.id}`, { ctx: { ward: 7 }, client, user, ...rest });
      expect([answer.status, answer.json<Session>().ctx]).toEqual([200, { ward: 7 }]);
      expect(await lives(mine)).toEqual(ALIVE);
    });

    it.each<[string, object]>([
      ['another user', { user: { resourceType: 'User', id: 'guest' } }],
      ['no user', { user: undefined }],
      ['another client', { client: { resourceType: 'Client', id: 'root' } }],
      ['another expiry', { exp: 4_000_000_000 }],
      ['another start', { start: '1999-01-01T00:00:00.000Z' }],
      ['another grant', { type: 'client_credentials' }],
      ['a parent', { parent: { resourceType: 'Session', id: 'x' } }],
      ['an end while it is open', { end: '2099-01-01T00:00:00.000Z' }],
      ['a scope', { scope: ['ward.read'] }],
      ['an audience', { audience: 'https://other.example' }],
      ['another expiry of its refresh token', { refresh_token_exp: 4_000_000_000 }],
      ['the hash of a token', { access_token: 'a'.repeat(64) }],
      ['no active member', { active: undefined }],
      ['active as a string', { active: 'false' }],
      ['another user while it closes', { active: false, user: { resourceType: 'User', id: 'guest' } }],
    ])('cannot be changed to %s', async (_case, members) => {
      const mine = await open();
      const answer = await app.put(`/Session/${mine.id}`, { ...(await read(mine.id)), ...members });
      expect([answer.status, answer.json().resourceType]).toEqual([422, 'OperationOutcome']);
      expect(await lives(mine)).toEqual(ALIVE);
    });

    it('cannot be reopened after it is closed', async () => {
      const mine = await open();
      const before = await read(mine.id);
      await app.delete('/Session', { authorization: mine.bearer });
      const after = await read(mine.id);
      const { end, ...unended } = after;
      expect((await app.put(`/Session/${mine.id}`, before)).status).toBe(422);
      expect((await app.put(`/Session/${mine.id}`, { ...after, active: true })).status).toBe(422);
      expect((await app.put(`/Session/${mine.id}`, { ...unended, active: true })).status).toBe(422);
      // The recorded end stays, regardless of later writes.
      expect((await app.put(`/Session/${mine.id}`, unended)).json()).toEqual(after);
      expect((await app.put(`/Session/${mine.id}`, { ...after, end: '2099-01-01T00:00:00.000Z' })).json()).toEqual(
        after,
      );
      expect([typeof end, await lives(mine)]).toEqual(['string', DEAD]);
    });

    it.each([
      ['application/merge-patch+json', { active: true }],
      ['application/json-patch+json', [{ op: 'replace', path: '/active', value: true }]],
      [
        'application/json-patch+json',
        [
          { op: 'remove', path: '/end' },
          { op: 'replace', path: '/active', value: true },
        ],
      ],
    ])('cannot be reopened by a PATCH: %s %j', async (mediaType, body) => {
      const mine = await open();
      const patch = (sent: object, type = mediaType): Promise<Received> =>
        app.send('PATCH', `/Session/${mine.id}`, { body: sent, headers: { 'Content-Type': type } });
      expect((await patch({ active: false, ctx: { dose: 1 } }, 'application/merge-patch+json')).status).toBe(200);
      expect([(await patch(body)).status, await lives(mine)]).toEqual([422, DEAD]);
    });

    it('cannot be reopened after it is deleted', async () => {
      const mine = await open();
      const before = await read(mine.id);
      await app.delete(`/Session/${mine.id}`);
      expect((await app.put(`/Session/${mine.id}`, before)).status).toBe(422);
      expect((await app.post('/Session', before)).status).toBe(422);
      expect([(await app.get(`/Session/${mine.id}`)).status, await lives(mine)]).toEqual([410, DEAD]);
    });

    it('cannot be created without a token', async () => {
      const { id, ...body } = await read((await open()).id);
      expect((await app.post('/Session', body)).status).toBe(422);
      expect((await app.put('/Session/made-up', body)).status).toBe(422);
      expect((await app.get('/Session/made-up')).status).toBe(404);
      expect(id).not.toBe('made-up');
    });

    it('keeps its versions', async () => {
      const mine = await open();
      await app.delete('/Session', { authorization: mine.bearer });
      const { entry } = (await app.get(`/Session/${mine.id}/_history`)).json<{ entry: { resource: Session }[] }>();
      expect(entry.map(({ resource }) => resource.active)).toEqual([false, true]);
    });
  });

  describe('after a change of its User or Client', () => {
    let number = 0;
    const newcomer = (): Promise<Person> => login(app, `newcomer-${++number}`);
    const change = async (path: string, members: object): Promise<void> => {
      const answer = await app.put(path, { ...(await app.get(path)).json<object>(), ...members });
      expect(answer.status).toBe(200);
    };

    it.each<[string, (person: Person) => Promise<unknown>]>([
      ['the User is set inactive', ({ userId }) => change(`/User/${userId}`, { inactive: true })],
      ['the User is deleted', ({ userId }) => app.delete(`/User/${userId}`)],
      ['the password is changed', ({ userId }) => change(`/User/${userId}`, { password: 'another password' })],
      ['the Client is deactivated', ({ clientId }) => change(`/Client/${clientId}`, { active: false })],
      ['the Client is deleted', ({ clientId }) => app.delete(`/Client/${clientId}`)],
    ])('is closed with all others of that User or Client: %s', async (_case, shutOut) => {
      const person = await newcomer();
      const expired = await app.atTime(anHourAgo, () => open(person));
      const first = await open(person);
      const sessions = [await open(person), await opened(() => refresh(first, person)), expired];
      await shutOut(person);
      for (const session of sessions) {
        expect((await app.get('/Session', { authorization: session.bearer })).status).toBe(401);
        expect((await refresh(session, person)).status).toBeGreaterThanOrEqual(400);
        expect(await read(session.id)).toMatchObject({ active: false, end: anyInstant });
      }
      expect(await search(`user=User/${person.userId}&active=true`)).toEqual([]);
      expect(await lives(await open())).toEqual(ALIVE);
    });

    it.each<[string, (person: Person) => Promise<unknown>]>([
      ['the User gets another name', ({ userId }) => change(`/User/${userId}`, { name: { givenName: 'Joy' } })],
      ['the User keeps the password', ({ userId, password }) => change(`/User/${userId}`, { password, title: 'Dr' })],
      ['the User is written without a password', ({ userId }) => change(`/User/${userId}`, { password: undefined })],
      ['the User is written with inactive false', ({ userId }) => change(`/User/${userId}`, { inactive: false })],
      ['the Client gets another secret', ({ clientId }) => change(`/Client/${clientId}`, { secret: 'other secret' })],
      ['the Client is written with active true', ({ clientId }) => change(`/Client/${clientId}`, { active: true })],
    ])('stays open: %s', async (_case, touch) => {
      const person = await newcomer();
      const session = await open(person);
      await touch(person);
      expect((await app.get('/Session', { authorization: session.bearer })).status).toBe(200);
    });

    it('stays open when the change is refused', async () => {
      const person = await newcomer();
      const session = await open(person);
      const user = (await app.get(`/User/${person.userId}`)).json<object>();
      const refused = await app.put(`/User/${person.userId}`, {
        ...user,
        userName: 'nurse',
        password: 'new',
        inactive: true,
      });
      expect([refused.status, await lives(session, person)]).toEqual([409, ALIVE]);
    });

    it.each<[string, (person: Person) => Promise<unknown>]>([
      ['set inactive', ({ userId }) => change(`/User/${userId}`, { inactive: true })],
      ['deleted', ({ userId }) => app.delete(`/User/${userId}`)],
      ['given a new password', ({ userId }) => change(`/User/${userId}`, { password: 'another password' })],
      ['logged in by a Client that is deactivated', ({ clientId }) => change(`/Client/${clientId}`, { active: false })],
    ])('is closed for a User who is %s during logins and refreshes', async (_case, shutOut) => {
      const person = await newcomer();
      const living = [await open(person), await open(person), await open(person)];
      const logins = Array.from({ length: 12 }, () => {
        const { userId: username, password } = person;
        return askToken(person, { grant_type: 'password', username, password });
      });
      const exchanges = living.map((session) => refresh(session, person));
      await Promise.race(logins);
      await shutOut(person);
      const answers = await Promise.all([...logins, ...exchanges]);
      expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
      for (const answer of answers.filter(({ status }) => status === 200)) {
        const authorization = `Bearer ${answer.json<Tokens>().access_token}`;
        expect((await app.get('/Session', { authorization })).status).toBe(401);
      }
      expect(await search(`user=User/${person.userId}&active=true`)).toEqual([]);
    });
  });
});
