import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Client as PostgresClient } from 'pg';
import { hashesOf } from '../../support/hashes-of';
import { ServerProcess } from '../../support/server-process';
import { SigningKeys } from '../../../src/auth/keys/signing-keys.repository';
import { BackgroundTasks } from '../../../src/platform/background/background-tasks';
import { eventually } from '../../../testing/eventually';
import {
  BASE_URL,
  type Received,
  ROOT,
  type TestApp,
  basicHeader,
  encryptionKey,
  startTestApp,
} from '../../../testing/test-app';

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

const SECRET = 'secret';
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };

describe('the lifetime of a token', () => {
  let app: TestApp;
  let second: TestApp;
  let database: PostgresClient;
  let number = 0;

  beforeAll(async () => {
    app = await startTestApp({ environment: { SVC_SESSION_SWEEP_SECONDS: '0', SVC_KEY_OVERLAP_SECONDS: '1000' } });
    second = await startTestApp({ databaseUrl: app.databaseUrl });
    database = new PostgresClient({ connectionString: app.databaseUrl });
    await database.connect();
    const password = { refresh_token: true, refresh_token_expiration: 7200 };
    await stored('/Client/ward', { secret: SECRET, grant_types: ['password'], auth: { password } });
    await stored('/Client/other', { secret: SECRET, grant_types: ['password'], auth: { password } });
    await stored('/Client/open', { grant_types: ['password'], auth: { password: { refresh_token: true } } });
    const signed = { token_format: 'jwt', token_expiration: 600 };
    await stored('/Client/signed', { secret: SECRET, grant_types: ['password'], auth: { password: signed } });
    await stored('/Client/gateway', { secret: SECRET, grant_types: ['client_credentials'] });
    await stored('/AccessPolicy/gateway', {
      engine: 'allow',
      link: [{ resourceType: 'Client', id: 'gateway' }],
    });
    for (const id of ['nurse', 'guest']) await stored(`/User/${id}`, { userName: id, password: `password of ${id}` });
  });
  afterAll(async () => {
    await database.end();
    await second.close();
    await app.close();
  });

  async function stored(path: string, body: object): Promise<void> {
    const answer = await app.put(path, body);
    expect([answer.status < 300, answer.text]).toEqual([true, expect.any(String)]);
  }
  const form = (path: string, body: Record<string, string>, authorization: string | null = null): Promise<Received> =>
    app.post(path, new URLSearchParams(body).toString(), { authorization, headers: FORM });
  async function logIn(clientId = 'ward', username = 'nurse', password = `password of ${username}`): Promise<Tokens> {
    const answer = await app.post(
      '/auth/token',
      {
        grant_type: 'password',
        client_id: clientId,
        ...(clientId === 'open' ? {} : { client_secret: SECRET }),
        username,
        password,
      },
      { authorization: null },
    );
    expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
    return answer.json<Tokens>();
  }
  const refresh = (tokens: Tokens, clientId = 'ward'): Promise<Received> =>
    app.post(
      '/auth/token',
      {
        grant_type: 'refresh_token',
        client_id: clientId,
        ...(clientId === 'open' ? {} : { client_secret: SECRET }),
        refresh_token: tokens.refresh_token,
      },
      { authorization: null },
    );
  /** Uses a token; returns 200 for a live token, 401 for any other. */
  const useOf = async (token: string, server = app): Promise<number> =>
    (await server.get('/auth/userinfo', { authorization: `Bearer ${token}` })).status;
  const atOffset = <T>(seconds: number, work: () => Promise<T>): Promise<T> =>
    app.atTime(() => new Date(Date.now() + seconds * 1000), work);

  describe('a family of refresh tokens', () => {
    it('survives a reuse within seconds if no successor was used, since the response may have been lost', async () => {
      const first = await logIn();
      const next = (await refresh(first)).json<Tokens>();
      expect((await refresh(first)).json()).toEqual({
        error: 'invalid_grant',
        error_description:
          'The refresh token is not valid: unknown, expired, used, or its Session is closed. Log in again',
        error_uri: expect.stringContaining('#refresh-token-rejected'),
      });
      expect([await useOf(next.access_token), (await refresh(next)).status]).toEqual([200, 200]);
    });

    it.each<[string, (next: Tokens) => Promise<unknown>]>([
      ['the access token', ({ access_token: token }) => useOf(token)],
      ['the refresh token', (next) => refresh(next)],
    ])('is closed by a reuse when %s of the successor was used', async (_case, use) => {
      const first = await logIn();
      const next = (await refresh(first)).json<Tokens>();
      await use(next);
      expect((await refresh(first)).status).toBe(400);
      expect([await useOf(next.access_token), (await refresh(next)).status]).toEqual([401, 400]);
    });

    it('is closed by a reuse after these seconds, to its last descendant and on every replica', async () => {
      const first = await logIn();
      const next = (await refresh(first)).json<Tokens>();
      await database.query(
        `update refresh_token set consumed_at = consumed_at - interval '6 seconds'
          where family_id = (select family_id from refresh_token where successor_session_id is not null
            order by consumed_at desc limit 1)`,
      );
      expect((await refresh(first)).status).toBe(400);
      expect([await useOf(next.access_token), await useOf(next.access_token, second)]).toEqual([401, 401]);
    });

    it('is closed without closing other families of the User', async () => {
      const [first, other] = [await logIn(), await logIn()];
      const next = (await refresh(first)).json<Tokens>();
      await useOf(next.access_token);
      await refresh(first);
      expect([await useOf(next.access_token), await useOf(other.access_token)]).toEqual([401, 200]);
    });

    it('is not affected by a reuse with another client', async () => {
      const first = await logIn();
      const next = (await refresh(first)).json<Tokens>();
      await useOf(next.access_token);
      expect((await refresh(first, 'other')).status).toBe(400);
      expect(await useOf(next.access_token)).toBe(200);
    });

    it('is closed by DELETE /Session with any of its access tokens', async () => {
      const first = await logIn();
      const next = (await refresh(first)).json<Tokens>();
      const closed = await app.delete('/Session', { authorization: `Bearer ${next.access_token}` });
      expect([closed.status, (await refresh(next)).status]).toEqual([200, 400]);
    });
  });

  describe('C9: jti and iss in a Session', () => {
    interface Named {
      readonly id: string;
      readonly jti?: string;
      readonly iss?: string;
    }
    const sessionsWith = async (query: string): Promise<Named[]> =>
      ((await app.get(`/Session?${query}`)).json<{ entry?: { resource: Named }[] }>().entry ?? []).map(
        ({ resource }) => resource,
      );
    const described = async (token: string, clientId: string): Promise<Named> =>
      (await form('/auth/introspect', { token }, basicHeader(clientId, SECRET))).json<Named>();

    it('C9: are those of its JWT, and find it', async () => {
      const { access_token: token } = await logIn('signed');
      const { jti, iss } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Named;
      expect(await sessionsWith(`.jti=${String(jti)}`)).toEqual([expect.objectContaining({ jti, iss })]);
      expect([iss, await described(token, 'signed')]).toEqual([BASE_URL, expect.objectContaining({ jti, iss })]);
    });

    it('C9: are a UUID and the issuer for an opaque token, with a new UUID after a refresh', async () => {
      const first = await logIn();
      const second = (
        await form(
          '/auth/token',
          { grant_type: 'refresh_token', refresh_token: first.refresh_token },
          basicHeader('ward', SECRET),
        )
      ).json<Tokens>();
      // The refresh closed the first Session.
      const { jti } = await described(second.access_token, 'ward');
      const [session] = await sessionsWith(`.jti=${String(jti)}`);
      expect(session).toMatchObject({ jti: expect.stringMatching(/^[0-9a-f-]{36}$/), iss: BASE_URL });
      const named = await sessionsWith('client=Client/ward&_count=1000');
      expect(new Set(named.map((one) => one.jti)).size).toBe(named.length);
      expect(named.filter((one) => one.jti === undefined || one.jti === one.id)).toEqual([]);
    });

    it('C9: are missing in Sessions of older releases, which are read, introspected and closed as before', async () => {
      const { access_token: token } = await logIn();
      const { jti } = await described(token, 'ward');
      const [session] = await sessionsWith(`.jti=${String(jti)}`);
      const id = session?.id ?? '';
      const old = `update resource set body = regexp_replace(body, '"jti":"[^"]*","iss":"[^"]*",?', '') where id = $1`;
      expect((await database.query(old, [id])).rowCount).toBe(1);
      const read = (await app.get(`/Session/${id}`)).json<Named & { active: boolean }>();
      expect([read.active, read.jti, read.iss]).toEqual([true, undefined, undefined]);
      expect(await described(token, 'ward')).toMatchObject({ active: true, jti: id, iss: BASE_URL });
      expect((await app.put(`/Session/${id}`, { ...read, jti: 'made-up' })).status).toBe(422);
      expect((await app.put(`/Session/${id}`, { ...read, active: false })).status).toBe(200);
      expect(await described(token, 'ward')).toEqual({ active: false });
    });
  });

  describe('POST /auth/introspect (RFC 7662)', () => {
    const introspect = (token: string, clientId = 'ward', secret = SECRET): Promise<Received> =>
      form('/auth/introspect', { token }, basicHeader(clientId, secret));
    const INACTIVE = { active: false };

    it('describes a token to its client', async () => {
      const { access_token: token, refresh_token: refreshToken } = await logIn();
      const answer = await introspect(token);
      const body = answer.json<{ iat: number; jti: string }>();
      expect([answer.status, answer.headers.get('cache-control'), body]).toEqual([
        200,
        'no-store',
        {
          active: true,
          iss: BASE_URL,
          aud: BASE_URL,
          token_type: 'Bearer',
          client_id: 'ward',
          sub: 'nurse',
          username: 'nurse',
          jti: expect.any(String),
          iat: expect.any(Number),
          exp: body.iat + 3600,
        },
      ]);
      expect((await introspect(refreshToken)).json()).toEqual({
        active: true,
        iss: BASE_URL,
        client_id: 'ward',
        sub: 'nurse',
        exp: expect.any(Number),
      });
    });

    it.each<[string, () => Promise<Received>]>([
      ['unknown', () => introspect('unknown')],
      ['of another client', async () => introspect((await logIn()).access_token, 'other')],
      ['a refresh token of another client', async () => introspect((await logIn()).refresh_token, 'other')],
      ['expired', async () => introspect((await atOffset(-7201, () => logIn())).access_token)],
      ['an expired refresh token', async () => introspect((await atOffset(-7201, () => logIn())).refresh_token)],
      [
        'closed',
        async () => {
          const { access_token: token } = await logIn();
          await app.delete('/Session', { authorization: `Bearer ${token}` });
          return introspect(token);
        },
      ],
      [
        'a used refresh token',
        async () => {
          const tokens = await logIn();
          await refresh(tokens);
          return introspect(tokens.refresh_token);
        },
      ],
    ])('returns only active false when the token is %s', async (_case, asked) => {
      const answer = await asked();
      expect([answer.status, answer.json()]).toEqual([200, INACTIVE]);
    });

    it('describes any token with a policy for AuthIntrospect', async () => {
      const { access_token: token } = await logIn();
      expect((await introspect(token, 'gateway')).json()).toMatchObject({ active: true, sub: 'nurse' });
    });

    it('describes to a User only the User’s own tokens', async () => {
      await app.delete('/AccessPolicy/gateway');
      const [mine, foreign] = [await logIn(), await logIn('ward', 'guest')];
      const asked = async (token: string): Promise<unknown> =>
        (await form('/auth/introspect', { token }, `Bearer ${mine.access_token}`)).json();
      expect([await asked(mine.access_token), await asked(foreign.access_token)]).toEqual([
        expect.objectContaining({ active: true, sub: 'nurse' }),
        INACTIVE,
      ]);
    });

    it.each<[string, string | null, Record<string, string>, unknown[]]>([
      ['S9: a request without credentials', null, { token: 'x' }, [401, 'invalid_client', 'Basic realm="svc"']],
      ['a client without a secret', null, { token: 'x', client_id: 'open' }, [401, 'invalid_client', null]],
      ['a wrong secret', basicHeader('ward', 'no'), { token: 'x' }, [401, 'invalid_client', 'Basic realm="svc"']],
      [
        'an invalid token',
        'Bearer dead',
        { token: 'x' },
        [401, 'invalid_token', 'Bearer realm="svc", error="invalid_token"'],
      ],
      ['no token', basicHeader('ward', SECRET), {}, [400, 'invalid_request', null]],
    ])('refuses %s', async (_case, authorization, body, expected) => {
      const { status, headers, ...answer } = await form('/auth/introspect', body, authorization);
      expect([status, answer.json().error, headers.get('www-authenticate')]).toEqual(expected);
    });
  });

  describe('POST /auth/revoke (RFC 7009)', () => {
    const revoke = (token: string, clientId = 'ward'): Promise<Received> =>
      form('/auth/revoke', { token, client_id: clientId, ...(clientId === 'open' ? {} : { client_secret: SECRET }) });

    it.each<[string, (tokens: Tokens) => string]>([
      ['an access token', ({ access_token: token }) => token],
      ['a refresh token', ({ refresh_token: token }) => token],
    ])('closes the Session of %s on every replica', async (_case, pick) => {
      for (const clientId of ['ward', 'open']) {
        const tokens = await logIn(clientId);
        const answer = await revoke(pick(tokens), clientId);
        expect([answer.status, answer.text, answer.headers.get('cache-control')]).toEqual([200, '', 'no-store']);
        expect([await useOf(tokens.access_token, second), (await refresh(tokens, clientId)).status]).toEqual([
          401, 400,
        ]);
        expect((await revoke(pick(tokens), clientId)).status).toBe(200);
      }
    });

    it('closes the Session that a used refresh token was exchanged for', async () => {
      const first = await logIn();
      const next = (await refresh(first)).json<Tokens>();
      expect((await revoke(first.refresh_token)).status).toBe(200);
      expect(await useOf(next.access_token)).toBe(401);
    });

    it('returns 200 for an unknown token', async () => {
      expect((await revoke('unknown')).status).toBe(200);
    });

    it('is refused to other clients than that of the token', async () => {
      const tokens = await logIn();
      for (const token of [tokens.access_token, tokens.refresh_token]) {
        const answer = await revoke(token, 'other');
        expect([answer.status, answer.json().error]).toEqual([400, 'invalid_grant']);
      }
      expect([await useOf(tokens.access_token), (await refresh(tokens)).status]).toEqual([200, 200]);
    });

    it.each([
      ['no token', { client_id: 'ward', client_secret: SECRET }, 400],
      ['no client', { token: 'x' }, 400],
      ['an unknown client', { token: 'x', client_id: 'nobody' }, 401],
    ])('refuses %s', async (_case, body, status) => {
      expect((await form('/auth/revoke', body as Record<string, string>)).status).toBe(status);
    });
  });

  describe('POST /auth/change-password', () => {
    const hashes = (): number => hashesOf(app);
    const newUser = async (): Promise<string> => {
      const id = `user-${++number}`;
      await stored(`/User/${id}`, { userName: id, password: `password of ${id}` });
      return id;
    };
    const change = (token: string, body: object): Promise<Received> =>
      app.post('/auth/change-password', body, { authorization: `Bearer ${token}` });

    it('closes all Sessions of the User, and computes two hashes', async () => {
      const id = await newUser();
      const [mine, other] = [await logIn('ward', id), await logIn('open', id)];
      const before = hashes();
      const answer = await change(mine.access_token, {
        currentPassword: `password of ${id}`,
        newPassword: 'another password',
      });
      expect([answer.status, hashes() - before]).toEqual([204, 2]);
      expect([await useOf(mine.access_token), await useOf(other.access_token, second)]).toEqual([401, 401]);
      expect((await refresh(other, 'open')).status).toBe(400);
      expect((await app.get(`/User/${id}`)).json()).toMatchObject({ password: '***', meta: { versionId: '2' } });
      expect(await useOf((await logIn('ward', id, 'another password')).access_token)).toBe(200);
    });

    it.each<[string, object, string, number]>([
      ['a wrong password', { currentPassword: 'wrong', newPassword: 'x' }, 'currentPassword', 1],
      ['an empty password', { currentPassword: '', newPassword: 'x' }, 'currentPassword', 0],
      ['a password that is too long', { currentPassword: 'x'.repeat(1025), newPassword: 'x' }, 'currentPassword', 0],
      ['an empty new password', { currentPassword: 'p', newPassword: '' }, 'newPassword', 0],
      ['no new password', { currentPassword: 'p' }, 'newPassword', 0],
      ['a new password that is not a string', { currentPassword: 'p', newPassword: 7 }, 'newPassword', 0],
      ['a body that is not an object', [], 'currentPassword', 0],
    ])('is refused with %s', async (_case, body, expression, cost) => {
      const { access_token: token } = await logIn();
      const before = hashes();
      const answer = await change(token, body);
      expect([answer.status, answer.json<{ issue: { expression: string[] }[] }>().issue[0]?.expression]).toEqual([
        422,
        [expression],
      ]);
      expect([hashes() - before, await useOf(token)]).toEqual([cost, 200]);
    });

    it('requires a different password, and stores one that looks like a hash as text', async () => {
      const id = await newUser();
      const { access_token: token } = await logIn('ward', id);
      const currentPassword = `password of ${id}`;
      expect((await change(token, { currentPassword, newPassword: currentPassword })).status).toBe(422);
      expect((await change(token, { currentPassword, newPassword: '$s0$nonsense' })).status).toBe(204);
      expect(await useOf((await logIn('ward', id, '$s0$nonsense')).access_token)).toBe(200);
    });

    it('succeeds for one of two concurrent requests', async () => {
      const id = await newUser();
      const tokens = [await logIn('ward', id), await logIn('ward', id)];
      const answers = await Promise.all(
        tokens.map(({ access_token: token }, index) =>
          change(token, { currentPassword: `password of ${id}`, newPassword: `new ${index}` }),
        ),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([204, 409]);
    });

    it.each<[string, string | null, string, number]>([
      ['no token', null, 'application/json', 401],
      ['Basic', basicHeader('root', 'x'), 'application/json', 401],
      ['another media type', 'user', 'text/plain', 415],
      ['invalid JSON', 'user', 'application/json', 400],
    ])('is refused with %s', async (_case, who, mediaType, status) => {
      const authorization = who === 'user' ? `Bearer ${(await logIn()).access_token}` : who;
      const answer = await app.post('/auth/change-password', '{', {
        authorization,
        headers: { 'Content-Type': mediaType },
      });
      expect(answer.status).toBe(status);
    });
  });

  describe('discovery', () => {
    it.each([
      '/.well-known/openid-configuration',
      '/.well-known/oauth-authorization-server',
      '/.well-known/smart-configuration',
      '/fhir/.well-known/smart-configuration',
    ])('%s names all endpoints, and no others', async (path) => {
      const answer = await app.get(path, { authorization: null });
      const metadata = answer.json<Record<string, string>>();
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
      expect(metadata).toMatchObject({
        issuer: BASE_URL,
        userinfo_endpoint: `${BASE_URL}/auth/userinfo`,
        grant_types_supported: expect.arrayContaining(['password', 'client_credentials', 'refresh_token']),
        token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
      });
      const endpoints = Object.entries(metadata).filter(([name]) => /_(endpoint|uri)$/.test(name));
      expect(endpoints.length).toBeGreaterThan(3);
      for (const [name, url] of endpoints) {
        const isRead = name === 'jwks_uri' || name === 'userinfo_endpoint';
        const { status, text } = await app.send(isRead ? 'GET' : 'POST', url, { authorization: null });
        expect([name, status, text]).toEqual([
          name,
          name === 'jwks_uri' ? 200 : isRead ? 401 : 400,
          expect.stringMatching(/error|keys|login/),
        ]);
      }
    });
  });

  describe('signing keys', () => {
    const kidOf = (token: string): unknown =>
      (JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()) as { kid: unknown }).kid;
    const published = async (server = app): Promise<string[]> =>
      (await server.get('/.well-known/jwks.json', { authorization: null }))
        .json<{ keys: { kid: string }[] }>()
        .keys.map(({ kid }) => kid);
    const rotate = (server = app, query = ''): Promise<Received> => server.post(`/auth/rotate-keys${query}`, '');
    const nextKeySignsNow = (): Promise<unknown> =>
      database.query(`update signing_key set signs_from = clock_timestamp() where signs_from > clock_timestamp()`);

    it('are published before they sign, and until their last token has expired', async () => {
      const old = await logIn('signed');
      const answers = await Promise.all([rotate(), rotate(second), rotate(), rotate(second)]);
      const kids = answers.map((answer) => answer.json<{ kid: string }>().kid);
      expect(answers.map((answer) => answer.json<{ isNew: boolean }>().isNew).filter(Boolean)).toHaveLength(1);
      expect([new Set(kids).size, await published(), await published(second)]).toEqual([
        1,
        [kids[0], kidOf(old.access_token)],
        [kids[0], kidOf(old.access_token)],
      ]);
      expect(kidOf((await logIn('signed')).access_token)).toBe(kidOf(old.access_token));
      await nextKeySignsNow();
      const fresh = await logIn('signed');
      expect(kidOf(fresh.access_token)).toBe(kids[0]);
      expect([await useOf(old.access_token), await useOf(fresh.access_token, second)]).toEqual([200, 200]);
      expect(await published()).toContain(kidOf(old.access_token));
      // The last tokens of the old key expire.
      await database.query(`update session_token set expires_at = now() - interval '1 second' where kid = $1`, [
        kidOf(old.access_token),
      ]);
      const third = (await rotate(second)).json<{ kid: string; removed: string[] }>();
      expect(third.removed).toEqual([kidOf(old.access_token)]);
      expect(await published()).toEqual([third.kid, kids[0]]);
    });

    it('that are compromised are withdrawn immediately, with their tokens', async () => {
      const [old, opaque] = [await logIn('signed'), await logIn('ward')];
      const answer = await rotate(second, '?compromised=true');
      expect(answer.status).toBe(200);
      const { kid } = answer.json<{ kid: string }>();
      expect(await published()).toEqual([kid]);
      expect([await useOf(old.access_token), await useOf(opaque.access_token)]).toEqual([401, 200]);
      const fresh = await logIn('signed');
      expect([kidOf(fresh.access_token), await useOf(fresh.access_token)]).toEqual([kid, 200]);
    });

    describe('that are compromised', () => {
      const WAITING = `datname = current_database() and wait_event_type = 'Lock' and query like '%with expired as%'`;
      const waits = async (): Promise<boolean> => {
        const { rowCount } = await observer.query(`select from pg_stat_activity where ${WAITING}`);
        return rowCount === 1;
      };
      const OF_RENEWED = `select session_id from session_token where client_id = 'renewed'`;
      let tokens: readonly Tokens[];
      // Within a transaction, pg_stat_activity does not change.
      let observer: PostgresClient;

      beforeAll(async () => {
        observer = await app.connect();
      });

      beforeEach(async () => {
        const signed = { token_format: 'jwt', refresh_token: true };
        await stored('/Client/renewed', { secret: SECRET, grant_types: ['password'], auth: { password: signed } });
        tokens = [await logIn('renewed'), await logIn('renewed')];
      });
      afterEach(() => database.query('rollback'));

      const expectEnded = async (): Promise<void> => {
        const uses = await Promise.all(tokens.map(({ access_token: token }) => useOf(token, second)));
        const refreshes = await Promise.all(tokens.map((one) => refresh(one, 'renewed')));
        expect([uses, refreshes.map(({ status }) => status)]).toEqual([
          [401, 401],
          [400, 400],
        ]);
      };

      it('end their tokens before the answer, and the next sweep of a replica closes the Sessions', async () => {
        await database.query(`begin; select from resource where type = 'Session' and id in (${OF_RENEWED}) for update`);
        expect((await rotate(app, '?compromised=true')).status).toBe(200);
        await expectEnded();
        await database.query('rollback');
        await second.app.get(BackgroundTasks).wake('sweep of Sessions');
        expect((await app.get('/Session?client=renewed&active=true')).json()).toMatchObject({ total: 0 });
      });

      it('end their tokens even if the client disconnects after the keys were withdrawn', async () => {
        await database.query(`begin; select from session_token where client_id = 'renewed' for update`);
        const leaving = new AbortController();
        const rotated = fetch(`${app.url}/auth/rotate-keys?compromised=true`, {
          method: 'POST',
          headers: { authorization: ROOT },
          signal: leaving.signal,
        }).catch(() => 'left');
        await eventually('the end of the tokens waits', waits);
        leaving.abort();
        expect(await rotated).toBe('left');
        await delay(500); // the server would cancel the statement
        await database.query('rollback');
        await eventually('the tokens end', async () => (await useOf(tokens[1]?.access_token ?? '')) === 401);
        await expectEnded();
      });

      it('end their tokens by a repeated call when the server was killed after the keys were withdrawn', async () => {
        const killed = await ServerProcess.start({
          ...{ DATABASE_URL: app.databaseUrl, PORT: '0', HOST: '127.0.0.1', SVC_ENCRYPTION_KEY: encryptionKey() },
        });
        await database.query(`begin; select from session_token where client_id = 'renewed' for update`);
        const rotated = fetch(`${killed.url}/auth/rotate-keys?compromised=true`, {
          method: 'POST',
          headers: { authorization: ROOT },
        }).catch(() => 'no answer');
        await eventually('the end of the tokens waits', waits);
        await killed.end('SIGKILL');
        expect(await rotated).toBe('no answer');
        await database.query(`select pg_terminate_backend(pid) from pg_stat_activity where ${WAITING}`);
        await database.query('rollback');
        expect(await useOf(tokens[0]?.access_token ?? '')).toBe(200);
        expect((await rotate(second, '?compromised=true')).status).toBe(200);
        await expectEnded();
      });
    });

    it('cause no refused token while they are rotated under load', async () => {
      let isOver = false;
      const statuses: number[] = [];
      const load = [app, second].map(async (server) => {
        while (!isOver) statuses.push(await useOf((await logIn('signed')).access_token, server));
      });
      for (let round = 0; round < 3; round++) {
        await rotate(round % 2 === 0 ? app : second);
        await nextKeySignsNow();
      }
      isOver = true;
      await Promise.all(load);
      expect([statuses.length > 1, new Set(statuses)]).toEqual([true, new Set([200])]);
    });

    it.each(['', '?compromised=true'])('are generated without blocking logins (%s)', async (query) => {
      const keys = app.app.get(SigningKeys);
      let computed = (): void => undefined;
      const computing = new Promise<void>((resolve) => (computed = resolve));
      const begun = new Promise<void>((resolve) => {
        jest.spyOn(keys, 'generate').mockImplementationOnce(async () => {
          resolve();
          await computing;
          return keys.generate();
        });
      });
      await nextKeySignsNow();
      const rotated = rotate(app, query);
      await begun;
      expect(await useOf((await logIn('signed')).access_token)).toBe(200);
      computed();
      expect((await rotated).json<{ isNew: boolean }>().isNew).toBe(true);
    });

    it.each(['?compromised=yes', '?now=true', '?compromised=true&x=1'])(
      'are not rotated with the query %s',
      async (query) => {
        expect((await rotate(app, query)).status).toBe(400);
      },
    );

    it('are not rotated without a policy', async () => {
      const authorization = `Bearer ${(await logIn()).access_token}`;
      expect((await app.post('/auth/rotate-keys', '', { authorization })).status).toBe(403);
    });
  });

  describe('the sweep', () => {
    const sweep = (server = app): Promise<void> => server.app.get(BackgroundTasks).wake('sweep of Sessions');
    const sessionOf = async (token: string): Promise<{ id: string; active: boolean; end?: string }> => {
      const { rows } = await database.query<{ session_id: string }>(
        `select session_id from session_token where token_hash = sha256($1)`,
        [token],
      );
      const [row] = rows;
      return (await app.get(`/Session/${row?.session_id ?? ''}`)).json();
    };

    it('closes Sessions whose tokens have all expired, on two replicas', async () => {
      const over = await atOffset(-7201, () => logIn());
      const renewable = await atOffset(-3601, () => logIn());
      const living = await logIn();
      await Promise.all([sweep(), sweep(second), sweep()]);
      await sweep();
      expect([
        (await sessionOf(over.access_token)).active,
        (await sessionOf(renewable.access_token)).active,
        (await sessionOf(living.access_token)).active,
      ]).toEqual([false, true, true]);
      expect([await useOf(living.access_token), (await refresh(renewable)).status]).toEqual([200, 200]);
    });

    it('deletes Sessions that closed long ago, with their tokens, and keeps their history', async () => {
      const tokens = await logIn();
      const { id } = await sessionOf(tokens.access_token);
      await app.delete('/Session', { authorization: `Bearer ${tokens.access_token}` });
      await sweep();
      expect((await app.get(`/Session/${id}`)).status).toBe(200);
      await database.query(`update session_token set closed_at = now() - interval '91 days' where session_id = $1`, [
        id,
      ]);
      await sweep();
      const { rows } = await database.query(
        `select from session_token where session_id = $1 union all select from refresh_token where session_id = $1`,
        [id],
      );
      expect([(await app.get(`/Session/${id}`)).status, rows.length]).toEqual([410, 0]);
      const history = (await app.get(`/Session/${id}/_history`)).json<{ total: number }>();
      expect([history.total, (await refresh(tokens)).status]).toEqual([3, 400]);
      await sweep();
    });

    it('ignores a Session that is already deleted', async () => {
      const over = await atOffset(-7201, () => logIn());
      const { id } = await sessionOf(over.access_token);
      await app.delete(`/Session/${id}`);
      await database.query('update session_token set closed_at = null where session_id = $1', [id]);
      await sweep();
      const { rows } = await database.query<{ closed: boolean }>(
        'select closed_at is not null as closed from session_token where session_id = $1',
        [id],
      );
      expect(rows).toEqual([{ closed: true }]);
    });
  });
});
