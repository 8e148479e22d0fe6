import { createPublicKey, verify } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { hashesOf } from '../../support/hashes-of';
import { RequestContext } from '../../../src/platform/request/request-context';
import { ContextLogger } from '../../../src/platform/logging/context-logger';
import { BASE_URL, type Received, type Sent, type TestApp, basicHeader, startTestApp } from '../../../testing/test-app';

interface Tokens {
  readonly token_type: string;
  readonly expires_in: number;
  readonly access_token: string;
  readonly refresh_token?: string;
  readonly userinfo: Record<string, unknown>;
}

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
const JSON_BODY = { 'Content-Type': 'application/json' };
const SECRET = 'client secret: 100%41 + ü';
const PASSWORD = 'correct horse battery staple';
const NURSE = { grant_type: 'password', username: 'nurse', password: PASSWORD };
const OPAQUE = /^[\w-]{43}$/;
const anyOpaque: unknown = expect.stringMatching(OPAQUE);

/** Settings of the Clients in this file; all except `no-secret` have the secret {@link SECRET}. */
const CLIENTS: Readonly<Record<string, object>> = {
  ward: { grant_types: ['password'] },
  strict: { grant_types: ['password'], auth: { password: { secret_required: true } } },
  signed: { grant_types: ['password'], auth: { password: { token_format: 'jwt', token_expiration: 120 } } },
  short: { grant_types: ['password'], auth: { password: { token_expiration: 60, access_token_expiration: 900 } } },
  alias: { grant_types: ['password'], auth: { password: { access_token_expiration: 900 } } },
  refreshing: { grant_types: ['password'], auth: { password: { refresh_token: true } } },
  fading: {
    grant_types: ['password'],
    auth: { password: { refresh_token: true, refresh_token_expiration: 60, token_format: 'jwt' } },
  },
  machine: { grant_types: ['basic'] },
  idle: {},
  retired: { grant_types: ['password', 'basic'], active: false },
};

const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;

const decoded = (part: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>;

/** All parts of an answer that a caller can compare, without its time and request id. */
function whole({ status, headers, text }: Received): string {
  const { date, 'x-request-id': id, ...compared } = Object.fromEntries(headers);
  expect([date, id]).toEqual([expect.any(String), expect.any(String)]);
  return JSON.stringify([status, compared, text]);
}

describe('POST /auth/token', () => {
  let app: TestApp;
  let nurse: Record<string, unknown>;

  beforeAll(async () => {
    app = await startTestApp({ environment: { SVC_BODY_LIMIT_BYTES: '20000', SVC_TRIAL_POLICY: 'on' } });
    for (const [id, body] of Object.entries(CLIENTS)) await stored(`/Client/${id}`, { ...body, secret: SECRET });
    await stored('/Client/no-secret', { grant_types: ['password'] });
    nurse = await stored('/User/nurse', {
      userName: 'nurse',
      email: 'Nurse@Svc.Example',
      password: PASSWORD,
      name: { givenName: 'Joy' },
      data: { ward: 7 },
      twoFactor: { enabled: false, secretKey: 'two-factor-secret' },
    });
    await stored('/User/left', { userName: 'left', email: 'left@svc.example', password: PASSWORD, inactive: true });
    await stored('/User/no-password', { userName: 'no-password' });
  });
  afterAll(() => app.close());

  async function stored(path: string, body: object): Promise<Record<string, unknown>> {
    const answer = await app.put(path, body);
    expect([200, 201]).toContain(answer.status);
    return answer.json();
  }

  const send = (body: object, authorization: string | null = null): Promise<Received> =>
    app.post('/auth/token', body, { authorization });
  const sendForm = (body: Record<string, string>, authorization: string | null = null): Promise<Received> =>
    app.post('/auth/token', new URLSearchParams(body).toString(), { authorization, headers: FORM });
  const statusWith = async (token: string): Promise<number> =>
    (await app.get('/Patient', { authorization: `Bearer ${token}` })).status;

  async function tokensOf(clientId: string, parameters: Record<string, string> = NURSE): Promise<Tokens> {
    const answer = await send({ client_id: clientId, client_secret: SECRET, ...parameters });
    expect({ status: answer.status, text: answer.text }).toEqual({ status: 200, text: expect.any(String) });
    return answer.json<Tokens>();
  }

  const refresh = (clientId: string, refreshToken: string | undefined): Promise<Received> =>
    send({
      client_id: clientId,
      client_secret: SECRET,
      grant_type: 'refresh_token',
      refresh_token: refreshToken ?? 'none was issued',
    });

  const refusalOf = (answer: Received): unknown[] => [answer.status, answer.json<{ error?: string }>().error];

  /** Runs `work` while the clock of the server is `seconds` ahead. */
  function atOffset<T>(seconds: number, work: () => Promise<T>): Promise<T> {
    return app.atTime(() => new Date(Date.now() + seconds * 1000), work);
  }

  const credentials = { client_id: 'ward', client_secret: SECRET };
  const encoded = `${encodeURIComponent('ward')}:${encodeURIComponent(SECRET)}`;

  describe('request forms (interface, "Token issuance")', () => {
    it.each<[string, () => Promise<Received>]>([
      ['Basic and form', () => sendForm(NURSE, basicHeader('ward', SECRET))],
      ['Basic whose parts are form-encoded, and form', () => sendForm(NURSE, basic(encoded))],
      ['JSON with the client in the body', () => send({ ...NURSE, ...credentials })],
      ['form with the client in the body', () => sendForm({ ...NURSE, ...credentials })],
      ['Basic and JSON', () => send(NURSE, basicHeader('ward', SECRET))],
      ['Basic and the same client in the body', () => send({ ...NURSE, ...credentials }, basicHeader('ward', SECRET))],
      ['Basic and the same client id in the body', () => sendForm({ ...NURSE, client_id: 'ward' }, basic(encoded))],
      ['Basic in lower case', () => sendForm(NURSE, basic(`ward:${SECRET}`).replace('Basic', 'basic'))],
      ['JSON with an unknown parameter', () => send({ ...NURSE, ...credentials, device: { id: 7 }, scope: null })],
      [
        'JSON with a charset',
        () =>
          app.post('/auth/token', JSON.stringify({ ...NURSE, ...credentials }), {
            authorization: null,
            headers: { 'Content-Type': 'Application/JSON; charset=UTF-8' },
          }),
      ],
    ])('returns an opaque token and the User for %s', async (_form, sent) => {
      const answer = await sent();
      expect({
        status: answer.status,
        type: answer.headers.get('content-type'),
        cache: [answer.headers.get('cache-control'), answer.headers.get('pragma')],
        body: answer.json(),
      }).toEqual({
        status: 200,
        type: 'application/json; charset=utf-8',
        cache: ['no-store', 'no-cache'],
        body: {
          token_type: 'Bearer',
          expires_in: 3600,
          access_token: anyOpaque,
          userinfo: {
            resourceType: 'User',
            id: 'nurse',
            sub: 'nurse',
            meta: nurse.meta,
            userName: 'nurse',
            email: 'Nurse@Svc.Example',
            name: { givenName: 'Joy' },
            data: { ward: 7 },
            twoFactor: { enabled: false },
          },
        },
      });
    });

    it('issues a token that grants access to the API', async () => {
      expect(await statusWith((await tokensOf('ward')).access_token)).toBe(200);
    });
  });

  describe('the client secret', () => {
    const asked = (clientId: string, secret?: string): Promise<Received> =>
      send({ ...NURSE, client_id: clientId, ...(secret === undefined ? {} : { client_secret: secret }) });

    it.each<[string, string, string | undefined, unknown[]]>([
      ['no secret where none is required', 'ward', undefined, [200, undefined]],
      ['an empty secret where none is required', 'ward', '', [200, undefined]],
      ['a wrong secret where none is required', 'ward', 'wrong', [401, 'invalid_client']],
      ['any secret of a Client without one', 'no-secret', 'any', [401, 'invalid_client']],
      ['no secret of a Client without one', 'no-secret', undefined, [200, undefined]],
      ['the right secret where it is required', 'strict', SECRET, [200, undefined]],
      ['no secret where it is required', 'strict', undefined, [401, 'invalid_client']],
      ['an empty secret where it is required', 'strict', '', [401, 'invalid_client']],
      ['a wrong secret where it is required', 'strict', 'wrong', [401, 'invalid_client']],
      ['the mask of the secret', 'strict', '***', [401, 'invalid_client']],
      ['the right secret of an inactive Client', 'retired', SECRET, [401, 'invalid_client']],
      ['a secret of an unknown Client', 'nobody', SECRET, [401, 'invalid_client']],
    ])('is checked: %s', async (_case, clientId, secret, expected) => {
      expect(refusalOf(await asked(clientId, secret))).toEqual(expected);
    });

    it('gets the same error for an unknown, an inactive and a wrong Client', async () => {
      const answers = [await asked('nobody', SECRET), await asked('retired', SECRET), await asked('ward', 'wrong')];
      expect(new Set(answers.map(whole)).size).toBe(1);
    });

    it('gets a Basic challenge only if Basic was used', async () => {
      const tried = await sendForm(NURSE, basicHeader('ward', 'wrong'));
      const untried = await sendForm({ ...NURSE, client_id: 'ward', client_secret: 'wrong' });
      expect([tried, untried].map(({ status, headers }) => [status, headers.get('www-authenticate')])).toEqual([
        [401, 'Basic realm="svc"'],
        [401, null],
      ]);
    });
  });

  describe('lifetime (interface, "Client")', () => {
    it.each([
      ['ward', 3600],
      ['signed', 120],
      ['short', 60],
      ['alias', 900],
    ])('of a token of Client %s is %d seconds', async (clientId, seconds) => {
      const { expires_in: lifetime, access_token: token } = await tokensOf(clientId);
      expect(lifetime).toBe(seconds);
      // Expiry follows the clock of the database: a token that was issued a lifetime ago has expired now.
      const ending = await atOffset(20 - seconds, () => tokensOf(clientId));
      const statuses = [await statusWith(ending.access_token)]; // `ending` lives 20 s more, enough for a slow machine
      const ended = await atOffset(-seconds, () => tokensOf(clientId));
      expect([...statuses, await statusWith(token), await statusWith(ended.access_token)]).toEqual([200, 200, 401]);
    });

    it('may have the maximum value', async () => {
      await stored('/Client/patient', {
        grant_types: ['password'],
        auth: { password: { token_expiration: 2 ** 31 - 1 } },
      });
      const tokens = await tokensOf('patient', { ...NURSE, client_secret: '' });
      expect([tokens.expires_in, await statusWith(tokens.access_token)]).toEqual([2 ** 31 - 1, 200]);
    });
  });

  describe('a JWT (RFC 9068)', () => {
    it('is signed by a published key and names issuer, user, client and Session', async () => {
      const { access_token: token } = await tokensOf('signed');
      const [header, payload, signature] = token.split('.') as [string, string, string];
      const { keys } = (await app.get('/.well-known/jwks.json', { authorization: null })).json<{
        keys: { kid: string; n: string; e: string; kty: string }[];
      }>();
      const head = decoded(header);
      const key = keys.find(({ kid }) => kid === head.kid);
      expect({ head, key }).toEqual({
        head: { alg: 'RS256', typ: 'at+jwt', kid: expect.any(String) },
        key: { kty: 'RSA', n: expect.any(String), e: 'AQAB', kid: head.kid, alg: 'RS256', use: 'sig' },
      });
      const publicKey = createPublicKey({ key: { ...key }, format: 'jwk' });
      expect(
        verify('sha256', Buffer.from(`${header}.${payload}`), publicKey, Buffer.from(signature, 'base64url')),
      ).toBe(true);
      const { iat, jti } = decoded(payload);
      expect(decoded(payload)).toEqual({
        iss: BASE_URL,
        sub: 'nurse',
        aud: BASE_URL,
        client_id: 'signed',
        iat: expect.any(Number),
        exp: Number(iat) + 120,
        jti: expect.any(String),
      });
      expect(Math.abs(Number(iat) - Date.now() / 1000)).toBeLessThan(60);
      expect((await app.get(`/Session/${String(jti)}`)).json()).toMatchObject({ active: true, exp: Number(iat) + 120 });
      expect(await statusWith(token)).toBe(200);
    });

    it('is refused when it is changed, unsigned or signed by another key', async () => {
      const { access_token: token } = await tokensOf('signed');
      const [header, payload, signature] = token.split('.') as [string, string, string];
      const text = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
      const forged = [
        `${header}.${text({ ...decoded(payload), sub: 'admin' })}.${signature}`,
        `${text({ alg: 'none', typ: 'at+jwt' })}.${payload}.`,
        `${header}.${payload}.`,
        `${header}.${payload}.${signature}=`,
        `${header}.${payload}`,
      ];
      for (const other of forged) expect(await statusWith(other)).toBe(401);
    });
  });

  describe('a refresh token', () => {
    it('is issued only if the Client has it enabled', async () => {
      expect([await tokensOf('ward'), await tokensOf('refreshing')]).toEqual([
        expect.not.objectContaining({ refresh_token: expect.anything() }),
        expect.objectContaining({ refresh_token: anyOpaque }),
      ]);
    });

    it.each<[string, (token: string) => Promise<Received>]>([
      ['JSON', (token) => refresh('refreshing', token)],
      ['form', (token) => sendForm({ grant_type: 'refresh_token', refresh_token: token, client_id: 'refreshing' })],
      [
        'Basic and form',
        (token) => sendForm({ grant_type: 'refresh_token', refresh_token: token }, basicHeader('refreshing', SECRET)),
      ],
    ])('is exchanged by %s for tokens that replace the old ones', async (_form, exchange) => {
      const first = await tokensOf('refreshing');
      const answer = await exchange(String(first.refresh_token));
      const second = answer.json<Tokens>();
      expect({ status: answer.status, body: second }).toEqual({
        status: 200,
        body: { ...first, access_token: anyOpaque, refresh_token: anyOpaque },
      });
      expect(new Set([first, second].flatMap((tokens) => [tokens.access_token, tokens.refresh_token])).size).toBe(4);
      expect([await statusWith(first.access_token), await statusWith(second.access_token)]).toEqual([401, 200]);
      expect(refusalOf(await refresh('refreshing', first.refresh_token))).toEqual([400, 'invalid_grant']);
    });

    it('works through a chain of exchanges', async () => {
      let tokens = await tokensOf('refreshing');
      for (let link = 0; link < 4; link++) {
        tokens = (await refresh('refreshing', tokens.refresh_token)).json<Tokens>();
      }
      expect(await statusWith(tokens.access_token)).toBe(200);
    });

    it('succeeds for one of 16 concurrent exchanges', async () => {
      const { refresh_token: token, access_token: old } = await tokensOf('refreshing');
      const answers = await Promise.all(Array.from({ length: 16 }, () => refresh('refreshing', token)));
      const won = answers.filter(({ status }) => status === 200).map((answer) => answer.json<Tokens>());
      const refusals = answers.filter(({ status }) => status !== 200).map(refusalOf);
      expect(refusals).toEqual(Array.from({ length: 15 }, () => [400, 'invalid_grant']));
      expect(await Promise.all([old, ...won.map((tokens) => tokens.access_token)].map(statusWith))).toEqual([401, 200]);
      expect((await refresh('refreshing', won[0]?.refresh_token)).status).toBe(200);
    });

    it('works longer than its access token', async () => {
      const { access_token: over, refresh_token: token } = await atOffset(-7200, () => tokensOf('refreshing'));
      expect(await statusWith(over)).toBe(401);
      expect((await refresh('refreshing', token)).status).toBe(200);
    });

    it('expires by its own lifetime, counted from its issue', async () => {
      const living = await atOffset(-50, () => tokensOf('fading'));
      const renewed = await atOffset(-40, () => refresh('fading', living.refresh_token));
      const over = await atOffset(-61, () => tokensOf('fading'));
      expect(refusalOf(await refresh('fading', renewed.json<Tokens>().refresh_token))).toEqual([200, undefined]);
      expect(refusalOf(await refresh('fading', over.refresh_token))).toEqual([400, 'invalid_grant']);
    });

    it('works only for its Client, and failed attempts do not consume it', async () => {
      const { refresh_token: token } = await tokensOf('refreshing');
      expect(refusalOf(await refresh('fading', token))).toEqual([400, 'invalid_grant']);
      const wrong = await send({
        ...credentials,
        client_id: 'refreshing',
        client_secret: 'wrong',
        grant_type: 'refresh_token',
        refresh_token: token,
      });
      expect(refusalOf(wrong)).toEqual([401, 'invalid_client']);
      expect((await refresh('refreshing', token)).status).toBe(200);
    });

    it('is refused as an access token, and an access token as a refresh token', async () => {
      const { access_token: access, refresh_token: token } = await tokensOf('refreshing');
      expect(await statusWith(String(token))).toBe(401);
      expect(refusalOf(await refresh('refreshing', access))).toEqual([400, 'invalid_grant']);
    });

    it('is refused after its Client has refresh tokens disabled', async () => {
      await stored('/Client/wavering', { ...CLIENTS.refreshing });
      const { refresh_token: token } = (await send({ ...NURSE, client_id: 'wavering' })).json<Tokens>();
      await stored('/Client/wavering', { ...CLIENTS.ward });
      const answer = await send({ grant_type: 'refresh_token', client_id: 'wavering', refresh_token: token });
      expect(refusalOf(answer)).toEqual([400, 'unauthorized_client']);
    });
  });

  describe('the user', () => {
    const asked = (username: string, password = PASSWORD): Promise<Received> =>
      send({ ...credentials, grant_type: 'password', username, password });

    it.each(['nurse', 'nurse@svc.example', 'NURSE@SVC.EXAMPLE', 'Nurse@Svc.Example'])(
      'logs in as %s',
      async (username) => {
        expect((await asked(username)).json<Tokens>().userinfo.id).toBe('nurse');
      },
    );

    it.each(['Nurse', 'NURSE', ' nurse', 'nurse ', 'nurse@svc', '%', '***'])(
      'does not log in as "%s"',
      async (name) => {
        expect(refusalOf(await asked(name))).toEqual([400, 'invalid_grant']);
      },
    );

    it('logs in by id, unless another User has it as userName in old data', async () => {
      await stored('/User/u-1', { userName: 'first', password: 'password of the first' });
      expect((await asked('u-1', 'password of the first')).json<Tokens>().userinfo.id).toBe('u-1');
      await stored('/User/u-2', { userName: 'second', password: 'password of the second' });
      const database = await app.connect();
      await database.query(`update user_login set login = 'u-1' where login = 'second'`);
      await database.end();
      expect(refusalOf(await asked('u-1', 'password of the first'))).toEqual([400, 'invalid_grant']);
      expect((await asked('u-1', 'password of the second')).json<Tokens>().userinfo.id).toBe('u-2');
    });

    it('does not log in by an email that another User shares', async () => {
      for (const id of ['twin-1', 'twin-2']) {
        await stored(`/User/${id}`, { userName: id, email: 'twins@svc.example', password: PASSWORD });
      }
      expect(refusalOf(await asked('twins@svc.example'))).toEqual([400, 'invalid_grant']);
      expect((await asked('twin-1')).status).toBe(200);
    });

    it('gets the same error if it is unknown, has no password, is inactive or the password is wrong', async () => {
      const answers = [
        await asked('nurse', 'wrong'),
        await asked('nobody'),
        await asked('no-password'),
        await asked('left', 'wrong'),
        await asked('left@svc.example', 'x'.repeat(257)),
        await asked('nurse', 'x'.repeat(5000)),
        await asked('nurse', '***'),
      ];
      const expected = {
        error: 'invalid_grant',
        error_description: 'Wrong username or password',
        error_uri: expect.stringContaining('#credentials-wrong'),
      };
      for (const answer of answers) {
        expect({ status: answer.status, body: answer.json() }).toEqual({ status: 400, body: expected });
      }
      expect(new Set(answers.map(whole)).size).toBe(1);
    });

    it('gets the error "User is inactive" only with the right password', async () => {
      const answer = await asked('left');
      expect({ status: answer.status, body: answer.json() }).toEqual({
        status: 400,
        body: {
          error: 'invalid_grant',
          error_description: 'User is inactive',
          error_uri: expect.stringContaining('#user-inactive'),
        },
      });
    });
  });

  describe('a malformed request', () => {
    const WHOLE = 'grant_type=password&username=nurse&password=x&client_id=ward';

    /** A malformed request computes no hash, whatever it contains about a user. */
    async function expectRefused(error: string, sent: Sent): Promise<void> {
      const hashesBefore = hashesOf(app);
      const answer = await app.send('POST', '/auth/token', sent);
      expect(hashesOf(app)).toBe(hashesBefore);
      const body = answer.json<{ error: string; error_description: string }>();
      const isUnknownClient = error === 'invalid_client';
      expect({
        status: answer.status,
        body,
        cache: answer.headers.get('cache-control'),
        challenge: answer.headers.get('www-authenticate'),
      }).toEqual({
        status: isUnknownClient ? 401 : 400,
        // RFC 6749, section 5.2, defines the characters of a description.
        body: {
          error,
          error_description: expect.stringMatching(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/),
          error_uri: expect.stringMatching(/#[a-z-]+$/),
        },
        cache: 'no-store',
        challenge: isUnknownClient && typeof sent.authorization === 'string' ? 'Basic realm="svc"' : null,
      });
    }

    it.each([
      ['', 'invalid_request'],
      ['username=nurse&password=x&client_id=ward', 'invalid_request'],
      ['grant_type=&username=nurse&password=x&client_id=ward', 'invalid_request'],
      ['grant_type=password&username=nurse&password=x', 'invalid_request'],
      ['grant_type=password&username=nurse&password=x&client_id=', 'invalid_request'],
      ['grant_type=password&password=x&client_id=ward', 'invalid_request'],
      ['grant_type=password&username=nurse&client_id=ward', 'invalid_request'],
      ['grant_type=password&username=nurse&password=&client_id=ward', 'invalid_request'],
      [`${WHOLE}&password=y`, 'invalid_request'],
      [`${WHOLE}&client_id=ward`, 'invalid_request'],
      ['grant_type=password&username=nur%00se&password=x&client_id=ward', 'invalid_request'],
      ['grant_type=password&username=nurse&password=x&client_id=%00', 'invalid_request'],
      ['grant_type=refresh_token&client_id=refreshing', 'invalid_request'],
      ['{"grant_type":"password","client_id":"ward"}', 'invalid_request'],
      ['grant_type=magic&client_id=ward', 'unsupported_grant_type'],
      ['grant_type=PASSWORD&client_id=ward', 'unsupported_grant_type'],
      ['grant_type=constructor&client_id=ward', 'unsupported_grant_type'],
      ['grant_type=password&username=nurse&password=x&client_id=machine', 'unauthorized_client'],
      ['grant_type=password&username=nurse&password=x&client_id=idle', 'unauthorized_client'],
      ['grant_type=refresh_token&refresh_token=x&client_id=ward', 'unauthorized_client'],
      ['grant_type=refresh_token&refresh_token=x&client_id=refreshing', 'invalid_grant'],
      ['grant_type=password&username=%E0%A4%A&password=%&client_id=ward', 'invalid_request'],
      ['grant_type=password&username=nurse&password=x&client_id=a%2Fb%20c', 'invalid_client'],
      ['grant_type=password&username=nurse&password=x&client_id=strict', 'invalid_client'],
      ['grant_type=password&username=nurse&password=x&client_id=retired', 'invalid_client'],
      ['grant_type=password&username=nurse&password=x&client_id=ward&client_secret=no', 'invalid_client'],
      ['grant_type=client_credentials&client_id=ward', 'invalid_client'],
      ['grant_type=refresh_token&refresh_token=x&client_id=nobody', 'invalid_client'],
      [`${WHOLE}&scope=ward.read`, 'invalid_scope'],
      [`${WHOLE}&scope=%22`, 'invalid_scope'],
      [`${WHOLE}&scope=a++b`, 'invalid_scope'],
      [`${WHOLE}&audience=https%3A%2F%2Fother.example`, 'invalid_target'],
      [`${WHOLE}&scope=&scope=`, 'invalid_request'],
      [`${WHOLE}&password=%ff`, 'invalid_request'],
      ['grant_type=password&username=nurse&password=%C0%80&client_id=ward', 'invalid_request'],
      ['grant_type=password&username=nurse&password=%ED%A0%80&client_id=ward', 'invalid_request'],
      ['grant_type=password&username=nurse&password=%zz&client_id=ward', 'invalid_request'],
      ['grant_type=password;username=nurse;password=x;client_id=ward', 'invalid_request'],
      ['&&&', 'invalid_request'],
      ['=', 'invalid_request'],
      ['grant_type', 'invalid_request'],
      ['Grant_Type=password&username=nurse&password=x&client_id=ward', 'invalid_request'],
      ['grant_type=password&username=nurse&client_id=ward&Password=x', 'invalid_request'],
      ['grant_type%00=password&client_id=ward', 'invalid_request'],
      ['grant_type=refresh_token&client_id=refreshing&refresh_token=a%00b', 'invalid_request'],
      ['grant_type=__proto__&client_id=ward', 'unsupported_grant_type'],
      ['grant_type=hasOwnProperty&client_id=ward', 'unsupported_grant_type'],
      ['grant_type=authorization_code&code=x&client_id=ward', 'unsupported_grant_type'],
      ['grant_type=refresh_token&client_id=refreshing&refresh_token=' + 'x'.repeat(9000), 'invalid_grant'],
      [
        'grant_type=refresh_token&client_id=refreshing&refresh_token=%27%3Bdrop%20table%20refresh_token',
        'invalid_grant',
      ],
      ['grant_type=password&username=nurse&client_id=ward&password=' + 'x'.repeat(1025), 'invalid_grant'],
    ])('as form "%s": %s', async (body, error) => {
      await expectRefused(error, { authorization: null, headers: FORM, body });
    });

    it.each([
      [FORM, '{"grant_type": "password"}', 'The body looks like JSON: send it with Content-Type: application/json'],
      [JSON_BODY, '', 'The body is empty: send the parameters as a JSON object'],
      [JSON_BODY, 'grant_type=password', 'The body is not valid JSON: malformed at line 1, column 1'],
      [
        JSON_BODY,
        '{"a":1,\n "hunter2":1, "hunter2":2}',
        'The body is not valid JSON: duplicate key at line 2, column 15',
      ],
    ])('of type %o gets the position of the fault without its text: %s', async (headers, body, description) => {
      const answer = await app.send('POST', '/auth/token', { authorization: null, headers, body });
      expect([answer.status, answer.json()]).toEqual([
        400,
        expect.objectContaining({ error: 'invalid_request', error_description: description }),
      ]);
    });

    it.each([
      ['', 'invalid_request'],
      [WHOLE, 'invalid_request'],
      ['{"grant_type":"password",', 'invalid_request'],
      ['{"grant_type":"password"} {}', 'invalid_request'],
      ['[{"grant_type":"password"}]', 'invalid_request'],
      ['null', 'invalid_request'],
      ['"grant_type=password"', 'invalid_request'],
      ['{"grant_type":"password","grant_type":"password","client_id":"ward"}', 'invalid_request'],
      ['{"grant_type":"password","__proto__":{"client_id":"ward"}}', 'invalid_request'],
      ['{"grant_type":"password","client_id":"ward","username":"\\u0000","password":"x"}', 'invalid_request'],
      ['{"grant_type":"password","client_id":"ward","username":"\\ud800","password":"x"}', 'invalid_request'],
      ['{"grant_type":"password","client_id":"ward","username":"nurse","password":1}', 'invalid_request'],
      ['{"grant_type":"password","client_id":"ward","username":["nurse"],"password":"x"}', 'invalid_request'],
      ['{"grant_type":"password","client_id":{"id":"ward"}}', 'invalid_request'],
      [`${'{"a":'.repeat(100)}1${'}'.repeat(100)}`, 'invalid_request'],
      ['{"grant_type":"client","client_id":"ward"}', 'unsupported_grant_type'],
      ['{"grant_type":"password","client_id":"ward","username":"nurse","password":null}', 'invalid_request'],
      ['{"grant_type":"password","client_id":"ward","username":"nurse","password":{"$ne":""}}', 'invalid_request'],
      ['{"grant_type":"password","client_id":"ward","username":"nurse","password":true}', 'invalid_request'],
      ['{"grant_type":["password"],"client_id":"ward"}', 'invalid_request'],
      ['{"grant_type":"password","client_id":"ward","scope":["a"]}', 'invalid_request'],
      ['{"grant_type":"password","client_id":"ward","audience":["a"]}', 'invalid_request'],
      ['{"grant_type":"password","client_id":"ward","client_secret":1}', 'invalid_request'],
      ['{"grant_type":"refresh_token","client_id":"refreshing","refresh_token":1e400}', 'invalid_request'],
      ['{"constructor":{"prototype":{"client_id":"ward"}},"grant_type":"password"}', 'invalid_request'],
      ['{grant_type:"password"}', 'invalid_request'],
    ])('as JSON %s: %s', async (body, error) => {
      await expectRefused(error, { authorization: null, body });
    });

    it.each([
      ['two clients', basicHeader('strict', SECRET), WHOLE, 'invalid_request'],
      ['two secrets', basicHeader('ward', SECRET), `${WHOLE}&client_secret=other`, 'invalid_request'],
      ['a secret beside Basic without one', basic('ward:'), `${WHOLE}&client_secret=other`, 'invalid_request'],
      ['a Bearer token', 'Bearer some-token', WHOLE, 'invalid_client'],
      ['two schemes', `${basicHeader('ward', SECRET)}, Bearer x`, WHOLE, 'invalid_client'],
      ['Basic that is not base64', 'Basic @@@', WHOLE, 'invalid_client'],
      ['Basic without a colon', basic('ward'), WHOLE, 'invalid_client'],
      ['Basic without an id', basic(`:${SECRET}`), WHOLE, 'invalid_client'],
      ['Basic with a NUL', basic('ward\0:secret'), WHOLE, 'invalid_client'],
      ['Basic with an encoded NUL', basic('ward:secret%00'), WHOLE, 'invalid_client'],
      ['Basic with nothing', 'Basic', WHOLE, 'invalid_client'],
      ['an empty header', '', WHOLE, 'invalid_client'],
    ])('with %s in the Authorization header', async (_case, authorization, body, error) => {
      await expectRefused(error, { authorization, headers: FORM, body });
    });

    it.each(['text/plain', 'multipart/form-data; boundary=x', 'application/fhir+json', 'nonsense'])(
      'of media type %s',
      async (mediaType) => {
        await expectRefused('invalid_request', {
          authorization: null,
          headers: { 'Content-Type': mediaType },
          body: WHOLE,
        });
      },
    );

    it.each<[string, string, string]>([
      ['a wrong password', 'nurse', 'wrong'],
      ['an unknown user', 'nobody', 'wrong'],
      ['a user without a password', 'no-password', 'wrong'],
      ['an inactive user', 'left', 'wrong'],
      ['an inactive user with the right password', 'left', PASSWORD],
      ['a user name in another letter case', 'NURSE', PASSWORD],
      ['an invalid email address', '@', 'wrong'],
    ])('computes exactly one hash for %s', async (_case, username, password) => {
      const before = hashesOf(app);
      const answer = await send({ ...credentials, grant_type: 'password', username, password });
      expect([...refusalOf(answer), hashesOf(app) - before]).toEqual([400, 'invalid_grant', 1]);
    });

    it('logs the cause with the request id, but no name or secret', async () => {
      const lines: string[] = [];
      const logger = new ContextLogger('warn', app.app.get(RequestContext));
      const write = jest.spyOn(process.stdout, 'write').mockImplementation((text) => lines.push(String(text)) > 0);
      app.app.useLogger(logger);
      try {
        const headers = { 'X-Request-Id': 'asked-1' };
        const body = { ...credentials, grant_type: 'password', username: 'canary-name', password: 'canary-password' };
        await app.send('POST', '/auth/token', { authorization: null, headers, body });
        await app.send('POST', '/auth/token', {
          authorization: null,
          headers,
          body: { ...body, client_id: 'canary-client', client_secret: 'canary-secret' },
        });
      } finally {
        write.mockRestore();
        app.app.useLogger(new ContextLogger('error', app.app.get(RequestContext)));
      }
      const logged = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
      const refused = { event: 'OAuth request refused', path: '/auth/token' };
      expect(logged).toEqual([
        expect.objectContaining({
          requestId: 'asked-1',
          message: { ...refused, error: 'invalid_grant', detail: 'unknown user', clientId: 'ward' },
        }),
        expect.objectContaining({
          requestId: 'asked-1',
          message: { ...refused, error: 'invalid_client', detail: 'unknown client' },
        }),
      ]);
      expect(lines.join()).not.toContain('canary');
    });

    it('ignores parameters in the query', async () => {
      const query = new URLSearchParams({ ...NURSE, ...credentials }).toString();
      const answer = await app.send('POST', `/auth/token?${query}`, { authorization: null, headers: FORM });
      expect(refusalOf(answer)).toEqual([400, 'invalid_request']);
    });

    it('refuses bytes that are not UTF-8 with 400', async () => {
      const { status } = await fetch(`${app.url}/auth/token`, {
        method: 'POST',
        headers: JSON_BODY,
        body: Buffer.from('7b22757365726e616d65223a22ff227d', 'hex'),
      });
      expect(status).toBe(400);
    });

    it.each<[string, string, Record<string, string>, number]>([
      ['too large', 'x'.repeat(20_001), FORM, 413],
      ['in an unknown encoding', WHOLE, { ...FORM, 'Content-Encoding': 'rot13' }, 415],
    ])('refuses a body that is %s', async (_case, body, headers, status) => {
      expect((await app.post('/auth/token', body, { authorization: null, headers })).status).toBe(status);
    });
  });

  it.each(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'])('refuses %s with 405, and allows POST', async (method) => {
    const { status, headers } = await app.send(method, '/auth/token', { authorization: null });
    expect([status, headers.get('allow'), headers.get('cache-control')]).toEqual([405, 'POST', 'no-store']);
  });

  it('is served on one root only, with or without a trailing slash', async () => {
    const sent = { authorization: null, body: { ...NURSE, ...credentials } };
    expect((await app.send('POST', '/auth/token/', sent)).status).toBe(200);
    expect((await app.send('POST', '/fhir/auth/token', sent)).status).not.toBe(200);
  });
});
