import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import * as oauth from 'oauth4webapi';
import { type TestApp, startTestApp } from '../../../testing/test-app';

const SECRET = 'secret: 100% + ü';
/** The base URL of a server behind a TLS proxy, since the library accepts only https. */
const BASE_URL = 'https://svc.example';

type SentByLibrary = Omit<RequestInit, 'body'> & { readonly body?: RequestInit['body'] | undefined };

/** Tests the endpoints with an independent client library that follows the standards strictly. */
describe('an OAuth client library (oauth4webapi)', () => {
  let app: TestApp;
  let server: oauth.AuthorizationServer;
  const client: oauth.Client = { client_id: 'ward' };

  beforeAll(async () => {
    app = await startTestApp({ environment: { SVC_TRIAL_POLICY: 'on', BASE_URL } });
    const settings = { token_format: 'jwt', refresh_token: true, secret_required: true };
    await app.put('/Client/ward', {
      secret: SECRET,
      grant_types: ['password', 'client_credentials'],
      auth: { password: settings, client_credentials: { token_format: 'jwt' } },
    });
    await app.put('/User/nurse', { userName: 'nurse', password: 'password' });
    const issuer = new URL(BASE_URL);
    const found = await oauth.discoveryRequest(issuer, { ...options(), algorithm: 'oidc' });
    server = await oauth.processDiscoveryResponse(issuer, found);
  });
  afterAll(() => app.close());

  /** Sends requests for the base URL to the actual port of the server. */
  const options = (): {
    [oauth.customFetch]: (url: string, init: SentByLibrary) => Promise<Response>;
  } => ({
    [oauth.customFetch]: (url, init) => fetch(url.replace(BASE_URL, app.url), { ...init, body: init.body ?? null }),
  });

  async function logIn(authentication: oauth.ClientAuth): Promise<oauth.TokenEndpointResponse> {
    const parameters = { username: 'nurse', password: 'password' };
    const answer = await oauth.genericTokenEndpointRequest(
      server,
      client,
      authentication,
      'password',
      parameters,
      options(),
    );
    return oauth.processGenericTokenEndpointResponse(server, client, answer);
  }

  it('finds the endpoints by both forms of discovery', async () => {
    const issuer = new URL(BASE_URL);
    const answer = await oauth.discoveryRequest(issuer, { ...options(), algorithm: 'oauth2' });
    expect((await oauth.processDiscoveryResponse(issuer, answer)).token_endpoint).toBe(server.token_endpoint);
  });

  it.each<[string, oauth.ClientAuth]>([
    ['in a Basic header', oauth.ClientSecretBasic(SECRET)],
    ['in the body', oauth.ClientSecretPost(SECRET)],
  ])('requests, uses, refreshes and revokes tokens with the secret %s', async (_where, authentication) => {
    const first = await logIn(authentication);
    expect([first.token_type, first.expires_in]).toEqual(['bearer', 3600]);

    const renewed = await oauth.refreshTokenGrantRequest(
      server,
      client,
      authentication,
      String(first.refresh_token),
      options(),
    );
    const second = await oauth.processRefreshTokenResponse(server, client, renewed);
    const userinfo = await oauth.userInfoRequest(server, client, second.access_token, options());
    expect(await oauth.processUserInfoResponse(server, client, 'nurse', userinfo)).toMatchObject({ sub: 'nurse' });

    const describe = async (token: string): Promise<oauth.IntrospectionResponse> =>
      oauth.processIntrospectionResponse(
        server,
        client,
        await oauth.introspectionRequest(server, client, authentication, token, options()),
      );
    expect([await describe(first.access_token), await describe(second.access_token)]).toEqual([
      { active: false },
      expect.objectContaining({ active: true, username: 'nurse', client_id: 'ward' }),
    ]);

    const revoked = await oauth.revocationRequest(server, client, authentication, second.access_token, options());
    await oauth.processRevocationResponse(revoked);
    expect(await describe(second.access_token)).toEqual({ active: false });
  });

  it('requests a token by client credentials', async () => {
    const authentication = oauth.ClientSecretBasic(SECRET);
    const answer = await oauth.clientCredentialsGrantRequest(server, client, authentication, {}, options());
    const tokens = await oauth.processClientCredentialsResponse(server, client, answer);
    expect(tokens.access_token).toEqual(expect.any(String));
  });

  it('verifies a JWT with the published keys (RFC 9068)', async () => {
    const { access_token: token } = await logIn(oauth.ClientSecretBasic(SECRET));
    const request = new Request(`${BASE_URL}/Patient`, { headers: { Authorization: `Bearer ${token}` } });
    expect(await oauth.validateJwtAccessToken(server, request, BASE_URL, options())).toMatchObject({
      sub: 'nurse',
      client_id: 'ward',
    });
  });

  it('reads an OAuth error as such', async () => {
    await expect(logIn(oauth.ClientSecretPost('wrong'))).rejects.toMatchObject({
      error: 'invalid_client',
      error_description: 'Client authentication failed',
      status: 401,
    });
    await expect(logIn(oauth.ClientSecretBasic('wrong'))).rejects.toMatchObject({ status: 401 });
  });
});

/** The request of Swagger UI's Authorize (swagger-js and swagger-ui's oauth2 actions). */
describe('Swagger UI', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp({
      environment: { SVC_TRIAL_POLICY: 'on', SVC_CORS_ORIGINS: 'https://docs.example' },
    });
    await app.put('/Client/ward', { secret: 'sécret', grant_types: ['password', 'client_credentials', 'basic'] });
    await app.put('/User/nurse', { userName: 'nurse', password: 'password' });
  });
  afterAll(() => app.close());

  const HEADERS = {
    Accept: 'application/json, text/plain, */*',
    'Content-Type': 'application/x-www-form-urlencoded',
    'X-Requested-With': 'XMLHttpRequest',
  };
  /** The Basic header of a browser: `btoa` encodes the credentials as Latin-1. */
  const basic = `Basic ${Buffer.from('ward:sécret', 'latin1').toString('base64')}`;
  const inBody = '&client_id=ward&client_secret=s%C3%A9cret';

  it.each([
    ['password, client by Basic', 'grant_type=password&scope=&username=nurse&password=password', basic],
    ['password, client in the body', `grant_type=password&scope=&username=nurse&password=password${inBody}`, null],
    ['client credentials by Basic', 'grant_type=client_credentials&scope=', basic],
    ['client credentials in the body', `grant_type=client_credentials&scope=${inBody}`, null],
  ])('logs in: %s', async (_flow, body, authorization) => {
    const headers = { ...HEADERS, Origin: 'https://docs.example' };
    const answer = await app.post('/auth/token', body, { authorization, headers });
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, 'https://docs.example']);
    const { access_token: token } = answer.json<{ access_token: string }>();
    expect((await app.get('/Patient', { authorization: `Bearer ${token}` })).status).toBe(200);
  });

  it('uses Basic, and CORS allows it from another origin', async () => {
    const preflight = await app.send('OPTIONS', '/auth/token', {
      authorization: null,
      headers: {
        Origin: 'https://docs.example',
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'authorization,x-requested-with',
      },
    });
    expect([preflight.status, preflight.headers.get('access-control-allow-headers')]).toEqual([
      204,
      'authorization,x-requested-with',
    ]);
    expect((await app.get('/Patient', { authorization: basic })).status).toBe(200);
  });

  it('reads security schemes whose URLs are existing endpoints', async () => {
    const { components, paths } = (await app.get('/api-json', { authorization: null })).json<{
      components: { securitySchemes: Record<string, object> };
      paths: Record<string, object>;
    }>();
    const flow = { tokenUrl: '/auth/token', refreshUrl: '/auth/token', scopes: {} };
    expect(components.securitySchemes).toEqual({
      oauth2: { type: 'oauth2', flows: { password: flow, clientCredentials: flow } },
      basic: expect.objectContaining({ type: 'http', scheme: 'basic' }),
      bearer: expect.objectContaining({ type: 'http', scheme: 'bearer' }),
    });
    expect(paths).toHaveProperty(['/auth/token']);
  });
});
