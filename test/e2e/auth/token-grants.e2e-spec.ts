import { scryptSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client as PostgresClient } from 'pg';
import { hashesOf } from '../../support/hashes-of';
import { base32Bytes, codeAt } from '../../../src/auth/user/one-time-code';
import { Clock } from '../../../src/platform/time/clock';
import { eventually } from '../../../testing/eventually';
import { BASE_URL, type Received, type TestApp, basicHeader, startTestApp } from '../../../testing/test-app';

interface Tokens {
  readonly access_token: string;
  readonly expires_in: number;
  readonly refresh_token?: string;
  readonly scope?: string;
  readonly userinfo?: Record<string, unknown>;
}

const SECRET = 'secret';
const PASSWORD = 'correct horse battery staple';

const CLIENTS: Readonly<Record<string, object>> = {
  ward: { grant_types: ['password'], scope: ['ward.read', 'ward.write'] },
  machine: { grant_types: ['client_credentials'], scope: ['labs.read'] },
  'machine-jwt': {
    grant_types: ['client_credentials'],
    auth: {
      client_credentials: {
        token_format: 'jwt',
        access_token_expiration: 120,
        refresh_token: true,
        audience: ['https://a.example', 'https://b.example'],
      },
    },
  },
  scoped: {
    grant_types: ['password'],
    scope: ['ward.read', 'ward.write'],
    auth: { password: { token_format: 'jwt', refresh_token: true, audience: ['https://a.example'] } },
  },
};

describe('grants of POST /auth/token', () => {
  let app: TestApp;
  let database: PostgresClient;

  beforeAll(async () => {
    app = await startTestApp({ environment: { SVC_TRIAL_POLICY: 'on' } });
    database = new PostgresClient({ connectionString: app.databaseUrl });
    await database.connect();
    for (const [id, body] of Object.entries(CLIENTS)) await stored(`/Client/${id}`, { ...body, secret: SECRET });
    await stored('/Client/secretless', { grant_types: ['client_credentials'] });
    await stored('/User/nurse', { userName: 'nurse', password: PASSWORD });
  });
  afterAll(async () => {
    await database.end();
    await app.close();
  });

  async function stored(path: string, body: object | string): Promise<Record<string, unknown>> {
    const answer = await app.put(path, body);
    expect([answer.status < 300, answer.text]).toEqual([true, expect.any(String)]);
    return answer.json();
  }
  const ask = (clientId: string, parameters: Record<string, string>): Promise<Received> =>
    app.post('/auth/token', { client_id: clientId, client_secret: SECRET, ...parameters }, { authorization: null });
  const logIn = (clientId: string, parameters: Record<string, string> = {}): Promise<Received> =>
    ask(clientId, { grant_type: 'password', username: 'nurse', password: PASSWORD, ...parameters });
  const refusalOf = (answer: Received): unknown[] => [answer.status, answer.json<{ error?: string }>().error];
  const claimsOf = (token: string): Record<string, unknown> =>
    JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;
  const hashes = (): number => hashesOf(app);
  const sessionsOf = async (clientId: string): Promise<Record<string, unknown>[]> => {
    const { entry = [] } = (await app.get(`/Session?client=Client/${clientId}&active=true&_count=100`)).json<{
      entry?: { resource: Record<string, unknown> }[];
    }>();
    return entry.map(({ resource }) => resource);
  };

  describe('client_credentials (RFC 6749, section 4.4)', () => {
    it('issues a token to a confidential client, without a User and without a hash', async () => {
      const before = hashes();
      const answer = await ask('machine', { grant_type: 'client_credentials', scope: 'labs.read' });
      expect([answer.status, answer.json(), answer.headers.get('cache-control')]).toEqual([
        200,
        { token_type: 'Bearer', expires_in: 3600, access_token: expect.any(String), scope: 'labs.read' },
        'no-store',
      ]);
      const [session] = await sessionsOf('machine');
      expect(session).toMatchObject({ type: 'client_credentials', scope: ['labs.read'] });
      expect([session?.user, hashes()]).toEqual([undefined, before]);
    });

    it('grants what the policies of the Client grant', async () => {
      await stored('/AccessPolicy/machine', { engine: 'allow', link: [{ resourceType: 'Client', id: 'machine' }] });
      const { access_token: token } = (await ask('machine', { grant_type: 'client_credentials' })).json<Tokens>();
      expect((await app.get('/Patient', { authorization: `Bearer ${token}` })).status).toBe(200);
    });

    it.each<[string, string, Record<string, string>, unknown[]]>([
      ['no secret', 'machine', { client_secret: '' }, [401, 'invalid_client']],
      ['a wrong secret', 'machine', { client_secret: 'wrong' }, [401, 'invalid_client']],
      ['a client without a secret', 'secretless', { client_secret: '' }, [401, 'invalid_client']],
      ['a client without the grant', 'ward', {}, [400, 'unauthorized_client']],
      ['a scope that the client does not list', 'machine', { scope: 'ward.read' }, [400, 'invalid_scope']],
      ['an audience that it does not list', 'machine', { audience: 'https://c.example' }, [400, 'invalid_target']],
    ])('is refused with %s', async (_case, clientId, parameters, expected) => {
      expect(refusalOf(await ask(clientId, { grant_type: 'client_credentials', ...parameters }))).toEqual(expected);
    });

    it('uses the settings of the Client: format, lifetime, audience, refresh tokens', async () => {
      const tokens = (await ask('machine-jwt', { grant_type: 'client_credentials' })).json<Tokens>();
      expect([tokens.expires_in, claimsOf(tokens.access_token)]).toEqual([
        120,
        expect.objectContaining({
          sub: 'machine-jwt',
          client_id: 'machine-jwt',
          aud: ['https://a.example', 'https://b.example'],
        }),
      ]);
      const refreshed = await ask('machine-jwt', {
        grant_type: 'refresh_token',
        refresh_token: String(tokens.refresh_token),
      });
      expect([refreshed.status, claimsOf(refreshed.json<Tokens>().access_token).sub]).toEqual([200, 'machine-jwt']);
      const unproven = await ask('machine-jwt', {
        grant_type: 'refresh_token',
        refresh_token: String(refreshed.json<Tokens>().refresh_token),
        client_secret: '',
      });
      expect(refusalOf(unproven)).toEqual([401, 'invalid_client']);
    });

    it('issues a token that ends with its Client', async () => {
      await stored('/Client/passing', { grant_types: ['client_credentials', 'basic'], secret: SECRET });
      const { access_token: token } = (await ask('passing', { grant_type: 'client_credentials' })).json<Tokens>();
      const statusNow = async (): Promise<number> =>
        (await app.get('/Patient', { authorization: `Bearer ${token}` })).status;
      expect(await statusNow()).toBe(200);
      await stored('/Client/passing', { grant_types: ['client_credentials'], active: false });
      expect(await statusNow()).toBe(401);
    });
  });

  describe('scope and audience', () => {
    it('are in the token, the Session and the response', async () => {
      const tokens = (
        await logIn('scoped', { scope: 'ward.write ward.read', audience: 'https://a.example' })
      ).json<Tokens>();
      expect([tokens.scope, claimsOf(tokens.access_token)]).toEqual([
        'ward.write ward.read',
        expect.objectContaining({ scope: 'ward.write ward.read', aud: 'https://a.example' }),
      ]);
      const { jti } = claimsOf(tokens.access_token);
      expect((await app.get(`/Session/${String(jti)}`)).json()).toMatchObject({
        scope: ['ward.write', 'ward.read'],
        audience: 'https://a.example',
      });
    });

    it('are those of the server when none is requested', async () => {
      const { access_token: token, scope } = (await logIn('scoped')).json<Tokens>();
      expect([scope, claimsOf(token).aud, claimsOf(token).scope]).toEqual([undefined, 'https://a.example', undefined]);
      const own = (await logIn('scoped', { audience: BASE_URL })).json<Tokens>();
      expect(claimsOf(own.access_token).aud).toBe(BASE_URL);
    });

    it('can be narrowed at a refresh, but not widened', async () => {
      const first = (await logIn('scoped', { scope: 'ward.read ward.write' })).json<Tokens>();
      const refresh = (token: Tokens, scope: string): Promise<Received> =>
        ask('scoped', { grant_type: 'refresh_token', refresh_token: String(token.refresh_token), scope });
      const second = (await refresh(first, 'ward.read')).json<Tokens>();
      expect(second.scope).toBe('ward.read');
      expect(refusalOf(await refresh(second, 'ward.write'))).toEqual([400, 'invalid_scope']);
      expect((await refresh(second, '')).json<Tokens>().scope).toBe('ward.read');
    });

    it('are refused before a hash is computed', async () => {
      const before = hashes();
      expect(refusalOf(await logIn('ward', { scope: 'openid' }))).toEqual([400, 'invalid_scope']);
      expect(refusalOf(await logIn('ward', { audience: 'https://a.example' }))).toEqual([400, 'invalid_target']);
      expect(hashes()).toBe(before);
    });
  });

  describe('userinfo', () => {
    it('returns the User with all digits and the Roles, without secrets', async () => {
      await stored(
        '/User/surgeon',
        `{"userName":"surgeon","password":"${PASSWORD}","data":{"fte":0.50},"twoFactor":{"enabled":false,"transport":"app","secretKey":"GEZDGNBVGY3TQOJQ"}}`,
      );
      const answer = await logIn('ward', { username: 'surgeon' });
      const { access_token: token } = answer.json<Tokens>();
      const own = await app.get('/auth/userinfo', { authorization: `Bearer ${token}` });
      const posted = await app.post('/auth/userinfo', '', { authorization: `Bearer ${token}` });
      for (const { text, headers } of [answer, own, posted]) {
        expect(text).toContain('"data":{"fte":0.50}');
        expect(text).toContain('"twoFactor":{"enabled":false,"transport":"app"}');
        expect(text).not.toMatch(/GEZD|\*\*\*|password/);
        expect(headers.get('cache-control')).toBe('no-store');
      }
      expect(own.json()).toEqual(answer.json<Tokens>().userinfo);
      expect(own.json()).toMatchObject({ resourceType: 'User', id: 'surgeon', sub: 'surgeon' });
    });

    it('requires the token of a User', async () => {
      const { access_token: token } = (await ask('machine', { grant_type: 'client_credentials' })).json<Tokens>();
      const statuses: number[] = [];
      for (const authorization of [`Bearer ${token}`, basicHeader('root', 'x'), null, 'Bearer x']) {
        statuses.push((await app.get('/auth/userinfo', { authorization })).status);
      }
      statuses.push((await app.get('/auth/userinfo')).status);
      expect(statuses).toEqual([403, 401, 401, 401, 401]);
    });
  });

  describe('a second factor', () => {
    const KEY = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
    const codeNow = (shift = 0): string =>
      codeAt(Math.floor(app.app.get(Clock).now().getTime() / 30_000) + shift, base32Bytes(KEY) ?? Buffer.alloc(0));

    beforeAll(async () => {
      await stored('/User/careful', {
        userName: 'careful',
        password: PASSWORD,
        twoFactor: { enabled: true, secretKey: KEY },
      });
    });
    const asked = (parameters: Record<string, string>): Promise<Received> =>
      logIn('ward', { username: 'careful', ...parameters });

    it('is required after the right password', async () => {
      const answer = await asked({});
      expect([answer.status, answer.json()]).toEqual([
        400,
        {
          error: 'invalid_grant',
          error_description: 'two-factor required',
          error_uri: expect.stringContaining('#one-time-code-missing'),
        },
      ]);
      const wrong = await asked({ password: 'wrong', totp: codeNow() });
      expect(wrong.json().error_description).toBe('Wrong username or password');
    });

    it('is accepted once, even from concurrent logins', async () => {
      expect(refusalOf(await asked({ totp: codeNow() === '000000' ? '000001' : '000000' }))).toEqual([
        400,
        'invalid_grant',
      ]);
      const answers = await Promise.all(Array.from({ length: 4 }, () => asked({ totp: codeNow(-1) })));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
    });

    it('never shows its key, and keeps it through writes without one', async () => {
      const read = await app.get('/User/careful');
      const put = await app.put('/User/careful', { userName: 'careful', twoFactor: { enabled: true } });
      const patched = await app.send('PATCH', '/User/careful', {
        body: { twoFactor: { secretKey: '***' }, title: 'Dr' },
        headers: { 'Content-Type': 'application/merge-patch+json' },
      });
      const history = await app.get('/User/careful/_history');
      for (const { status, text } of [read, put, patched, history]) {
        expect([status, text.includes('GEZD'), text.includes('"secretKey":"***"')]).toEqual([200, false, true]);
      }
      const { rows } = await database.query(`select from user_two_factor as row where row::text like '%GEZD%'`);
      expect(rows).toEqual([]);
      expect((await asked({ totp: codeNow(1) })).status).toBe(200);
    });

    it.each([{ twoFactor: { secretKey: 'no base 32!' } }, { twoFactor: { secretKey: 7 } }, { twoFactor: 'on' }])(
      'is refused with invalid members: %j',
      async (members) => {
        expect((await app.put('/User/careful-2', { userName: 'careful-2', ...members })).status).toBe(422);
      },
    );
  });

  describe('a password', () => {
    it('is the same in all Unicode forms', async () => {
      await stored('/User/zoe', { userName: 'zoe', password: 'Zo\u00eb \u00c5ngstr\u00f6m' });
      const forms = ['Zoe\u0308 A\u030angstro\u0308m', 'Zo\u00eb\u00a0\u212bngstr\u00f6m', 'Zoe Angstrom'];
      const answers = await Promise.all(forms.map((password) => logIn('ward', { username: 'zoe', password })));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 400]);
    });

    it('of 1,024 bytes is accepted; a longer one is refused without a hash', async () => {
      await stored('/User/long', { userName: 'long', password: 'x'.repeat(1024) });
      expect((await logIn('ward', { username: 'long', password: 'x'.repeat(1024) })).status).toBe(200);
      const before = hashes();
      expect(refusalOf(await logIn('ward', { username: 'long', password: 'x'.repeat(1025) }))).toEqual([
        400,
        'invalid_grant',
      ]);
      expect((await app.put('/User/long', { userName: 'long', password: 'x'.repeat(1025) })).status).toBe(422);
      expect(hashes()).toBe(before);
    });

    it('can be stored as a hash, which the first login replaces', async () => {
      const salt = Buffer.alloc(16, 7);
      const key = scryptSync('brought along', salt, 32, { N: 2 ** 15, r: 8, p: 1, maxmem: 2 ** 26 });
      const hash = `$s0$f0801$${salt.toString('base64')}$${key.toString('base64')}`;
      const before = hashes();
      const user = await stored('/User/moved', { userName: 'moved', password: hash });
      expect([user.password, hashes()]).toEqual(['***', before]);
      const again = await stored('/User/moved', { userName: 'moved', password: hash });
      expect(again).toEqual(user);
      const login = await logIn('ward', { username: 'moved', password: 'brought along' });
      expect(login.status).toBe(200);
      const kindOf = async (): Promise<string> => {
        const { rows } = await database.query<{ kind: string }>(
          `select left(password_hash, 9) as kind from user_password where user_id = 'moved'`,
        );
        return rows[0]?.kind ?? '';
      };
      await eventually('the hash is renewed', async () => ((await kindOf()) === '$argon2id' ? true : undefined));
      const tokens = [login, await logIn('ward', { username: 'moved', password: 'brought along' })];
      for (const answer of tokens) {
        const authorization = `Bearer ${answer.json<Tokens>().access_token}`;
        expect((await app.get('/auth/userinfo', { authorization })).status).toBe(200);
      }
      // A client that knows the hash does not know the password.
      expect(refusalOf(await logIn('ward', { username: 'moved', password: hash }))).toEqual([400, 'invalid_grant']);
    });

    it.each([
      '$argon2id$v=19$m=4194304,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA',
      '$s0$nonsense',
      '$argon2i$x',
    ])('that only begins like a hash is refused: %s', async (password) => {
      const answer = await app.put('/User/odd', { userName: 'odd', password });
      expect([answer.status, answer.text.includes(password)]).toEqual([422, false]);
    });
  });
});
