import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { RequestContext } from '../../../src/platform/request/request-context';
import { ContextLogger } from '../../../src/platform/logging/context-logger';
import { type Person, login } from '../../../testing/world';
import { type Sent, type TestApp, startTestApp } from '../../../testing/test-app';

const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };

describe('unusual requests to /auth and /.well-known', () => {
  let app: TestApp;
  let nurse: Person;

  beforeAll(async () => {
    app = await startTestApp();
    nurse = await login(app, 'nurse', { policies: [] });
  });
  afterAll(() => app.close());

  describe('another method or path', () => {
    it.each([
      ['PUT', '/auth/userinfo', 'GET, HEAD, POST'],
      ['DELETE', '/auth/userinfo/', 'GET, HEAD, POST'],
      ['GET', '/auth/change-password', 'POST'],
      ['PATCH', '/auth/change-password', 'POST'],
      ['GET', '/auth/rotate-keys', 'POST'],
      ['POST', '/auth/decisions/b6a1a6a4-30fb-4cd6-8f6b-0c4b0e1e8a11', 'GET, HEAD'],
      ['GET', '/auth/test-policy', 'POST'],
      ['GET', '/auth/test-request', 'POST'],
      ['POST', '/.well-known/jwks.json', 'GET, HEAD'],
      ['PUT', '/.well-known/openid-configuration', 'GET, HEAD'],
      ['DELETE', '/.well-known/oauth-authorization-server', 'GET, HEAD'],
      ['POST', '/.well-known/smart-configuration', 'GET, HEAD'],
      ['POST', '/fhir/.well-known/smart-configuration', 'GET, HEAD'],
    ])('C12.4: %s %s is 405, with the allowed methods', async (method, path, allow) => {
      const answer = await app.send(method, path, { authorization: nurse.bearer });
      expect([answer.status, answer.headers.get('allow'), answer.text]).toEqual([
        405,
        allow,
        expect.stringContaining(`allowed: ${allow}`),
      ]);
    });

    it('C12.4: requires credentials for /auth, but not for /.well-known', async () => {
      const anonymous = { authorization: null };
      const statuses = ['/auth/userinfo', '/auth/nothing', '/.well-known/jwks.json', '/.well-known/nothing'].map(
        async (path) => (await app.delete(path, anonymous)).status,
      );
      expect(await Promise.all(statuses)).toEqual([401, 401, 405, 404]);
    });

    it.each(['/auth/nothing', '/auth/decisions/a/b', '/.well-known/nothing', '/.well-known/a/b'])(
      'C12.4: says that there is no such route for %s',
      async (path) => {
        const answer = await app.get(path);
        expect([answer.status, answer.text]).toEqual([404, expect.stringContaining('no such route')]);
      },
    );
  });

  /** The log lines of a call. */
  async function loggedBy(call: () => Promise<unknown>): Promise<unknown[]> {
    const lines: string[] = [];
    const write = jest.spyOn(process.stdout, 'write').mockImplementation((text) => lines.push(String(text)) > 0);
    app.app.useLogger(new ContextLogger('warn', app.app.get(RequestContext)));
    try {
      await call();
    } finally {
      write.mockRestore();
      app.app.useLogger(new ContextLogger('error', app.app.get(RequestContext)));
    }
    return lines.map((line) => (JSON.parse(line) as { message: unknown }).message);
  }

  it.each<[string, string, string, Sent, number, object]>([
    [
      'of a body over 64 KiB',
      'POST',
      '/auth/token',
      { headers: FORM, body: 'x'.repeat(70_000) },
      413,
      { error: 'too-large', detail: expect.stringContaining('larger than the 65536 bytes') },
    ],
    [
      'of a compressed body',
      'POST',
      '/auth/introspect',
      { headers: { ...FORM, 'Content-Encoding': 'gzip' }, body: 'token=x' },
      415,
      { error: 'unsupported-media-type', detail: 'Send the body without Content-Encoding.' },
    ],
    [
      'of an unknown encoding',
      'POST',
      '/auth/introspect',
      { headers: { ...FORM, 'Content-Encoding': 'rot13' }, body: 'token=x' },
      415,
      { error: 'unsupported-media-type', detail: expect.stringContaining('use gzip') },
    ],
    [
      'of another method',
      'PUT',
      '/auth/revoke',
      {},
      405,
      { error: 'not-allowed', detail: 'PUT is not allowed here; allowed: POST.' },
    ],
  ])(
    'C12.9: logs the cause of a refusal %s, and returns an OAuth error',
    async (_case, method, path, sent, ...said) => {
      const [status, cause] = said;
      const lines = await loggedBy(async () => {
        const answer = await app.send(method, path, { authorization: null, ...sent });
        expect([answer.status, answer.json()]).toEqual([
          status,
          {
            error: 'invalid_request',
            error_description: expect.any(String),
            error_uri: expect.stringContaining('/docs/'),
          },
        ]);
      });
      expect(lines).toEqual([{ event: 'OAuth request refused', path, ...cause }]);
    },
  );
});
