import { createHmac, createSign, generateKeyPairSync, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { hashesOf } from '../../support/hashes-of';
import { BASE_URL, type TestApp, basicHeader, startTestApp } from '../../../testing/test-app';
import { WebhookReceiver } from '../../../testing/webhook-receiver';

const SECRET = 'secret';
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const foreign = publicKey.export({ format: 'jwk' });

const encoded = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const signed = (head: object, claims: unknown): string => {
  const text = `${encoded(head)}.${encoded(claims)}`;
  return `${text}.${createSign('sha256').update(text).sign(privateKey).toString('base64url')}`;
};
const hmac = (head: object, claims: object, key: string | Buffer): string => {
  const text = `${encoded(head)}.${encoded(claims)}`;
  return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`;
};

interface Jwk {
  readonly kid: string;
  readonly n: string;
  readonly e: string;
}

describe('forged tokens', () => {
  let app: TestApp;
  let trap: WebhookReceiver;
  let token: string;
  let head: { alg: string; kid: string; typ: string };
  let claims: Record<string, unknown>;
  let key: Jwk;

  beforeAll(async () => {
    app = await startTestApp({ environment: { SVC_TRIAL_POLICY: 'on' } });
    trap = await WebhookReceiver.start();
    await app.put('/User/nurse', { userName: 'nurse', password: 'password' });
    await app.put('/Client/signed', {
      secret: SECRET,
      grant_types: ['password', 'basic'],
      auth: { password: { token_format: 'jwt' } },
    });
    const answer = await app.post(
      '/auth/token',
      { grant_type: 'password', client_id: 'signed', client_secret: SECRET, username: 'nurse', password: 'password' },
      { authorization: null },
    );
    token = answer.json<{ access_token: string }>().access_token;
    const [first = '', second = ''] = token.split('.').map((part) => Buffer.from(part, 'base64url').toString());
    head = JSON.parse(first) as typeof head;
    claims = JSON.parse(second) as typeof claims;
    const set = await app.get('/.well-known/jwks.json', { authorization: null });
    [key = { kid: '', n: '', e: '' }] = set.json<{ keys: Jwk[] }>().keys;
  });
  afterAll(async () => {
    await trap.stop();
    await app.close();
  });

  const parts = (): [string, string, string] => token.split('.') as [string, string, string];
  const pem = (): string =>
    `-----BEGIN PUBLIC KEY-----\n${Buffer.from(key.n, 'base64url').toString('base64')}\n-----END PUBLIC KEY-----`;
  const now = (): number => Math.floor(Date.now() / 1000);

  const forgeries: readonly (readonly [string, () => string])[] = [
    ['alg none', () => `${encoded({ alg: 'none', typ: 'at+jwt' })}.${parts()[1]}.`],
    ['alg None', () => `${encoded({ alg: 'None' })}.${parts()[1]}.`],
    ['alg NONE', () => `${encoded({ alg: 'NONE' })}.${parts()[1]}.`],
    ['alg nOnE with the old signature', () => `${encoded({ alg: 'nOnE' })}.${parts()[1]}.${parts()[2]}`],
    ['no alg', () => `${encoded({ typ: 'at+jwt' })}.${parts()[1]}.${parts()[2]}`],
    ['alg null', () => `${encoded({ alg: null })}.${parts()[1]}.`],
    ['an empty alg', () => `${encoded({ alg: '' })}.${parts()[1]}.`],
    ['alg as a list', () => `${encoded({ alg: ['RS256', 'none'] })}.${parts()[1]}.`],
    ['HS256 with the modulus', () => hmac({ ...head, alg: 'HS256' }, claims, key.n)],
    ['HS256 with the public key', () => hmac({ ...head, alg: 'HS256' }, claims, pem())],
    ['HS256 with the JWK', () => hmac({ ...head, alg: 'HS256' }, claims, JSON.stringify(key))],
    ['HS256 with an empty key', () => hmac({ ...head, alg: 'HS256' }, claims, '')],
    ['HS256 with the client secret', () => hmac({ ...head, alg: 'HS256' }, claims, SECRET)],
    ['HS256 with the kid', () => hmac({ ...head, alg: 'HS256' }, claims, head.kid)],
    ['alg RS512', () => signed({ ...head, alg: 'RS512' }, claims)],
    ['alg PS256', () => signed({ ...head, alg: 'PS256' }, claims)],
    ['alg ES256', () => signed({ ...head, alg: 'ES256' }, claims)],
    ['another key with our kid', () => signed(head, claims)],
    ['another key with another kid', () => signed({ ...head, kid: randomUUID() }, claims)],
    ['no kid', () => signed({ alg: 'RS256', typ: 'at+jwt' }, claims)],
    ['a kid that is a path', () => signed({ ...head, kid: '../../../../dev/null' }, claims)],
    ['a kid that is SQL', () => signed({ ...head, kid: `' union select 'x' --` }, claims)],
    ['a kid that is a command', () => signed({ ...head, kid: '|/usr/bin/id' }, claims)],
    ['a kid that is a number', () => signed({ ...head, kid: 0 }, claims)],
    ['a kid of __proto__', () => signed({ ...head, kid: '__proto__' }, claims)],
    ['an embedded jwk', () => signed({ ...head, jwk: foreign }, claims)],
    ['a jku', () => signed({ ...head, jku: `${trap.url}/jwks.json` }, claims)],
    ['an x5u', () => signed({ ...head, x5u: `${trap.url}/cert.pem` }, claims)],
    ['an x5c', () => signed({ ...head, x5c: ['MIIB'] }, claims)],
    ['a crit header', () => signed({ ...head, crit: ['exp'], b64: false }, claims)],
    ['zip', () => signed({ ...head, zip: 'DEF' }, claims)],
    ['another sub', () => `${parts()[0]}.${encoded({ ...claims, sub: 'admin' })}.${parts()[2]}`],
    ['another iss', () => signed(head, { ...claims, iss: 'https://evil.example' })],
    ['another aud', () => signed(head, { ...claims, aud: 'https://evil.example' })],
    ['a later exp', () => `${parts()[0]}.${encoded({ ...claims, exp: now() + 10 ** 7 })}.${parts()[2]}`],
    ['no exp', () => signed(head, { ...claims, exp: undefined })],
    ['an exp in the past', () => signed(head, { ...claims, exp: 1 })],
    ['a nbf in the future', () => signed(head, { ...claims, nbf: now() + 3600 })],
    ['an iat in the future', () => signed(head, { ...claims, iat: now() + 3600 })],
    ['typ JWT', () => signed({ ...head, typ: 'JWT' }, claims)],
    ['an ID token', () => signed({ ...head, typ: 'JWT' }, { ...claims, nonce: 'x', aud: 'signed' })],
    ['a refresh token', () => signed(head, { ...claims, typ: 'refresh' })],
    ['another jti', () => signed(head, { ...claims, jti: randomUUID() })],
    ['claims that are a list', () => signed(head, [claims])],
    ['claims that are a string', () => signed(head, '"nurse"')],
    ['duplicate claims', () => signed(head, `{"sub":"nurse","sub":"admin","jti":"${String(claims.jti)}"}`)],
    ['huge claims', () => signed(head, { ...claims, padding: 'x'.repeat(6000) })],
    ['deep claims', () => signed(head, `${'['.repeat(1500)}${']'.repeat(1500)}`)],
    ['no signature', () => `${parts()[0]}.${parts()[1]}.`],
    ['no third part', () => `${parts()[0]}.${parts()[1]}`],
    ['only the header', () => parts()[0]],
    ['four parts', () => `${token}.${parts()[2]}`],
    ['five parts, as JWE', () => `${token}.${parts()[1]}.${parts()[2]}`],
    ['swapped parts', () => `${parts()[1]}.${parts()[0]}.${parts()[2]}`],
    ['a signature with padding', () => `${token}==`],
    ['a signature with a bit more', () => `${token}A`],
    ['a signature with a bit less', () => token.slice(0, -1)],
    ['a signature whose unused bits differ', () => token.slice(0, -1) + (token.endsWith('A') ? 'B' : 'A')],
    ['a signature of zeros', () => `${parts()[0]}.${parts()[1]}.${'A'.repeat(342)}`],
    ['base64 in place of base64url', () => token.replaceAll('-', '+').replaceAll('_', '/') + '='],
    ['a header with spaces in it', () => `${encoded(JSON.stringify(head, null, 1))}.${parts()[1]}.${parts()[2]}`],
    ['another letter case', () => token.toUpperCase()],
    ['JSON serialization', () => encoded({ payload: parts()[1], protected: parts()[0], signature: parts()[2] })],
    ['the hash of the token', () => createHmac('sha256', '').update(token).digest('hex')],
    ['the id of the Session', () => String(claims.jti)],
  ];

  it.each(forgeries)('are refused: %s', async (_name, forge) => {
    const answer = await app.get('/Patient', { authorization: `Bearer ${forge()}` });
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([
      401,
      'Bearer realm="svc", error="invalid_token"',
    ]);
    expect(answer.text).not.toContain('eyJ');
  });

  it('are all introspected as inactive, and the server fetches no URL from them', async () => {
    for (const [name, forge] of forgeries) {
      const answer = await app.post(
        '/auth/introspect',
        { token: forge() },
        { authorization: basicHeader('signed', SECRET) },
      );
      expect([name, answer.status, answer.json()]).toEqual([name, 200, { active: false }]);
    }
    expect([forgeries.length >= 40, trap.requests]).toEqual([true, []]);
  });

  it('do not affect the real token', async () => {
    expect((await app.get('/Patient', { authorization: `Bearer ${token}` })).status).toBe(200);
    expect(claims.iss).toBe(BASE_URL);
  });

  it('unfinished token requests do not block logins of others', async () => {
    const { hostname, port } = new URL(app.url);
    const form = { grant_type: 'password', client_id: 'signed', client_secret: SECRET };
    const begun = `POST /auth/token HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{`;
    const callers = Array.from({ length: 40 }, () => connect(Number(port), hostname));
    try {
      await Promise.all(callers.map((caller) => once(caller, 'connect').then(() => caller.write(begun))));
      // Five logins, since the server may process the first of them before the unfinished requests above.
      for (let count = 0; count < 5; count++) {
        const sent = { ...form, username: 'nurse', password: 'password' };
        expect((await app.post('/auth/token', sent, { authorization: null })).status).toBe(200);
      }
    } finally {
      for (const caller of callers) caller.destroy();
    }
  });

  describe('the Authorization header', () => {
    const statusOf = async (authorization: string): Promise<number> =>
      (await app.get('/Patient', { authorization })).status;
    const basic = (text: string | Buffer): string => `Basic ${Buffer.from(text).toString('base64')}`;

    it.each<[string, () => string, number]>([
      ['two spaces', () => `Bearer  ${token}`, 200],
      ['lower case', () => `bearer ${token}`, 200],
      ['upper case', () => `BEARER ${token}`, 200],
      ['a space at the end', () => `Bearer ${token} `, 200],
      ['no space', () => `Bearer${token}`, 401],
      ['a tab', () => `Bearer\t${token}`, 401],
      ['a comma', () => `Bearer ${token},`, 401],
      ['two tokens', () => `Bearer ${token} ${token}`, 401],
      ['two schemes', () => `Bearer ${token}, ${basicHeader('root', 'x')}`, 401],
      ['a parameter', () => `Bearer realm="svc" ${token}`, 401],
      ['quotes', () => `Bearer "${token}"`, 401],
      ['another scheme', () => `Token ${token}`, 401],
      ['DPoP', () => `DPoP ${token}`, 401],
      ['no token', () => 'Bearer', 401],
      ['a token alone', () => token, 401],
      ['Latin-1', () => `Bearer ${token}\u00e9`, 401],
      ['10 kB', () => `Bearer ${'x'.repeat(10_000)}`, 401],
      [
        'Basic in lower case',
        () => basicHeader('signed', SECRET).toLowerCase().slice(0, 6) + basicHeader('signed', SECRET).slice(6),
        200,
      ],
      ['Basic with two spaces', () => basicHeader('signed', SECRET).replace(' ', '  '), 200],
      ['Basic with a NUL', () => basic('signed\0:secret'), 401],
      ['Basic with a NUL in the secret', () => basic('signed:secret\0'), 401],
      ['Basic that is no UTF-8', () => basic(Buffer.from('73ff3a73', 'hex')), 401],
      ['Basic without a colon', () => basic('signed'), 401],
      ['Basic with a line break', () => basic('signed:secret\r\n'), 401],
      ['Basic that is a token', () => `Basic ${token}`, 401],
      ['Basic with another padding', () => `${basic('signed:secret').replace(/=+$/, '')}=====`, 200],
    ])('is parsed with %s', async (_name, header, status) => {
      const before = hashesOf(app);
      expect([await statusOf(header()), hashesOf(app)]).toEqual([status, before]);
    });

    /** Sends raw bytes that no HTTP client would send, and reads the status line. */
    const rawStatus = (head: string, target = 'GET /Patient'): Promise<string> =>
      new Promise((resolve, reject) => {
        const { port, hostname } = new URL(app.url);
        const socket = connect(Number(port), hostname, () => {
          // `end` would not do: when a client has closed its side, Node closes the connection before a late answer.
          socket.write(`${target} HTTP/1.1\r\nHost: svc\r\nConnection: close\r\n${head}\r\n\r\n`, 'latin1');
        });
        let text = '';
        socket.on('data', (chunk) => (text += chunk.toString('latin1')));
        socket.on('end', () => {
          resolve(text.slice(9, 12));
        });
        socket.on('error', reject);
      });

    it.each<[string, () => string, string]>([
      ['sent twice, identical', () => `Authorization: Bearer ${token}\r\nauthorization: Bearer ${token}`, '400'],
      ['sent twice, the bad one first', () => `Authorization: Bearer x\r\nAuthorization: Bearer ${token}`, '400'],
      ['with a NUL', () => `Authorization: Bearer ${token}\0`, '400'],
      ['folded', () => `Authorization: Bearer\r\n ${token}`, '400'],
      ['of 100 kB', () => `Authorization: Bearer ${'x'.repeat(100_000)}`, '431'],
      ['of 100 kB in Basic', () => `Authorization: Basic ${'eDp5'.repeat(25_000)}`, '431'],
      ['with a space before the colon', () => `Authorization : Bearer ${token}`, '400'],
      ['in UTF-8', () => 'Authorization: Bearer \u00c3\u00a9\u00c2\u0080', '401'],
      ['empty', () => 'Authorization:', '401'],
      ['hidden in another header', () => `X-Authorization: Bearer ${token}`, '401'],
    ])('that is %s never causes a 5xx', async (_name, header, onApi) => {
      const form = '\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 0';
      const statuses = [await rawStatus(header()), await rawStatus(header() + form, 'POST /auth/introspect')];
      expect(statuses[0]).toBe(onApi);
      expect(['400', '401', '431']).toContain(statuses[1]);
    });

    it('is the only source of a token', async () => {
      const query = await app.get(`/Patient?access_token=${token}`, { authorization: null });
      const cookie = await new Promise((resolve, reject) => {
        request(`${app.url}/Patient`, { headers: { Cookie: `access_token=${token}` } }, ({ statusCode }) => {
          resolve(statusCode);
        })
          .on('error', reject)
          .end();
      });
      expect([query.status, cookie]).toEqual([401, 401]);
    });
  });
});
