import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startServer } from '../../../src/boot';
import { readEnvironment } from '../../../src/platform/config/environment';
import { type ClonedDatabase, cloneDatabase } from '../../../testing/test-databases';
import { type Person, login } from '../../../testing/world';
import {
  ADMIN_PASSWORD,
  ROOT,
  type Received,
  type TestApp,
  basicHeader,
  startTestApp,
} from '../../../testing/test-app';
import { sendingAs } from '../../support/callers';

const CHALLENGE = 'Bearer realm="svc"';

describe('access', () => {
  let app: TestApp;
  let nurse: Person;
  let number = 0;

  beforeAll(async () => {
    app = await startTestApp();
    nurse = await login(app, 'nurse', { policies: [] });
    await app.put('/Patient/p-1', {});
    await app.put('/Client/machine', { secret: 'machine', grant_types: ['basic'] });
  });
  afterAll(() => app.close());

  const asNurse = sendingAs(() => [app, nurse]);
  const asMachine = (path: string): Promise<Received> =>
    app.get(path, { authorization: basicHeader('machine', 'machine') });

  async function withPolicy<T>(policy: object, work: () => Promise<T>): Promise<T> {
    const path = `/AccessPolicy/policy-${++number}`;
    const answer = await app.put(path, policy);
    expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
    return work().finally(() => app.delete(path));
  }

  const link = (resourceType: string, id: string): object => ({ resourceType, id });
  const allow = (...links: object[]): object => ({ engine: 'allow', ...(links.length === 0 ? {} : { link: links }) });

  describe('is denied by default', () => {
    it.each<[string, string, object | undefined]>([
      ['GET', '/Patient/p-1', undefined],
      ['GET', '/fhir/Patient/p-1', undefined],
      ['GET', '/Patient/unknown', undefined],
      ['GET', '/NoSuchType/p-1', undefined],
      ['GET', '/Patient', undefined],
      ['POST', '/Patient/_search', undefined],
      ['POST', '/Patient', {}],
      ['PUT', '/Patient/p-1', {}],
      ['DELETE', '/Patient/p-1', undefined],
      ['PATCH', '/Patient/p-1', {}],
      ['GET', '/Patient/p-1/_history', undefined],
      ['GET', '/Patient/p-1/_history/1', undefined],
      ['GET', '/Patient/p-1/$everything', undefined],
      ['POST', '/rpc', { method: 'svc/echo' }],
      ['PUT', '/AccessPolicy/mine', { engine: 'allow' }],
      ['PUT', '/User/nurse', { password: 'mine' }],
      ['GET', '/Session', undefined],
    ])('for %s %s without a policy: 403', async (method, path, body) => {
      const answer = await asNurse(method, path, body);
      expect([answer.status, answer.json().id, answer.headers.get('www-authenticate')]).toEqual([
        403,
        'forbidden',
        null,
      ]);
    });

    it('for Basic callers too', async () => {
      expect((await asMachine('/Patient')).status).toBe(403);
    });

    it.each<[string, string | null]>([
      ['no header', null],
      ['an empty header', ''],
      ['a scheme without a token', 'Bearer'],
      ['an unknown token', 'Bearer 4bBsPz0hS4cNl5xkTg0pGm7cYd1Qv2u8aR9wE3tZx6I'],
      ['a malformed token', 'Bearer not a token'],
      ['a token of only "="', 'Bearer ==='],
      ['another scheme', 'Digest username="root"'],
      ['the secret without a scheme', 'root-secret-for-specs'],
      ['wrong Basic credentials', basicHeader('root', 'wrong')],
      ['Basic without a secret', basicHeader('root', '')],
      ['a User as Basic', basicHeader('admin', ADMIN_PASSWORD)],
      ['Basic with a NUL', basicHeader('root\0', 'x')],
      ['Basic with an encoded NUL', basicHeader('root%00', 'x')],
      ['Basic with an id of 10,000 characters', basicHeader('r'.repeat(10_000), 'x')],
    ])('for callers with %s: 401', async (_case, authorization) => {
      const answer = await app.get('/Patient/p-1', { authorization });
      expect([answer.status, answer.json().id, answer.headers.get('www-authenticate')]).toEqual([
        401,
        'login',
        authorization?.startsWith('Bearer 4bB') === true ? `${CHALLENGE}, error="invalid_token"` : CHALLENGE,
      ]);
    });

    it('for two schemes, two tokens, and a token outside the Authorization header', async () => {
      const token = nurse.bearer.slice('Bearer '.length);
      await withPolicy(allow(), async () => {
        expect((await asNurse('GET', '/Patient/p-1')).status).toBe(200);
        expect((await app.get('/Patient/p-1', { authorization: `bearer  ${token} ` })).status).toBe(200);
        const tricks = [
          `${nurse.bearer}, ${ROOT}`,
          `${ROOT}, ${nurse.bearer}`,
          `${nurse.bearer} ${nurse.bearer}`,
          `Bearer Bearer ${token}`,
          `Bearer "${token}"`,
          `Bearer token=${token}`,
          `Token ${token}`,
          token,
        ];
        for (const authorization of tricks) {
          expect([authorization, (await app.get('/Patient/p-1', { authorization })).status]).toEqual([
            authorization,
            401,
          ]);
        }
        for (const name of ['access_token', 'token', 'authorization', 'bearer']) {
          expect((await app.get(`/Patient/p-1?${name}=${token}`, { authorization: null })).status).toBe(401);
        }
        const headers = { 'X-Authorization': nurse.bearer, Cookie: `access_token=${token}`, su: 'root' };
        expect((await app.get('/Patient/p-1', { authorization: null, headers })).status).toBe(401);
      });
    });
  });

  describe('is granted by a policy', () => {
    it('linked to the User, through any Client', async () => {
      await withPolicy(allow(link('User', 'nurse')), async () => {
        expect([(await asNurse('GET', '/Patient/p-1')).status, (await asMachine('/Patient')).status]).toEqual([
          200, 403,
        ]);
      });
      await withPolicy(allow(link('User', 'somebody')), async () => {
        expect((await asNurse('GET', '/Patient/p-1')).status).toBe(403);
      });
    });

    it('linked to the Client, for calls without a User (interface, "Authentication", rule 5)', async () => {
      await withPolicy(allow(link('Client', 'machine'), link('Client', nurse.clientId)), async () => {
        expect([(await asNurse('GET', '/Patient/p-1')).status, (await asMachine('/Patient')).status]).toEqual([
          403, 200,
        ]);
      });
    });

    it('linked to a User, but not to a Client with the same id', async () => {
      await withPolicy(allow(link('User', 'machine'), link('Client', 'nurse')), async () => {
        expect([(await asNurse('GET', '/Patient/p-1')).status, (await asMachine('/Patient')).status]).toEqual([
          403, 403,
        ]);
      });
    });

    it.each<[string, [string, string, object?], [string, string, object?]]>([
      ['FhirRead', ['GET', '/Patient/p-1'], ['GET', '/Patient']],
      ['FhirSearch', ['GET', '/Patient'], ['GET', '/Patient/p-1']],
      ['FhirSearch', ['POST', '/Patient/_search'], ['GET', '/Patient/p-1']],
      ['FhirCreate', ['POST', '/fhir/Patient', {}], ['GET', '/Patient/p-1']],
      ['FhirUpdate', ['PUT', '/Patient/p-2', {}], ['DELETE', '/Patient/p-2']],
      ['FhirPatch', ['PATCH', '/Patient/p-1', {}], ['PATCH', '/Patient?_id=p-1', {}]],
      ['FhirConditionalCreate', ['POST', '/Patient?_id=p-1', {}], ['POST', '/Patient', {}]],
      ['FhirConditionalUpdate', ['PUT', '/Patient?_id=p-3', {}], ['PUT', '/Patient/p-3', {}]],
      ['FhirConditionalPatch', ['PATCH', '/Patient?_id=p-1', {}], ['PATCH', '/Patient/p-1', {}]],
      ['FhirConditionalDelete', ['DELETE', '/Patient?_id=p-9'], ['DELETE', '/Patient/p-9']],
      ['FhirDelete', ['DELETE', '/Patient/p-2'], ['GET', '/Patient/p-1']],
      ['FhirHistory', ['GET', '/Patient/p-1/_history'], ['GET', '/Patient/p-1/_history/1']],
      ['FhirVread', ['GET', '/Patient/p-1/_history/1'], ['GET', '/Patient/p-1/_history']],
      ['FhirEverything', ['GET', '/Patient/p-1/$everything'], ['GET', '/Patient/p-1']],
      ['rpc', ['POST', '/rpc', { method: 'svc/echo' }], ['GET', '/Patient']],
    ])('linked to the Operation %s, for %j and nothing else', async (operation, granted, denied) => {
      await withPolicy(allow(link('Operation', operation)), async () => {
        expect((await asNurse(...granted)).status).toBeLessThan(300);
        expect((await asNurse(...denied)).status).toBe(403);
      });
    });

    it.each([
      ['FhirRaed', 'the nearest is "FhirRead"'],
      ['FhirEverythin', 'the nearest is "FhirEverything"'],
      ['RPC', 'the nearest is "rpc"'],
      ['authdecision', 'the nearest is "AuthDecision"'],
      ['nothing-like-it', 'docs/reference/routes.md'],
    ])('C13.3: a policy with a link to the unknown Operation %s is refused', async (operation, hint) => {
      const answer = await app.put('/AccessPolicy/unknown', allow(link('User', 'nurse'), link('Operation', operation)));
      const [issue] = answer.json<{ issue: { diagnostics: string; expression: string[] }[] }>().issue;
      expect([answer.status, issue?.expression]).toEqual([422, ['AccessPolicy.link[1].id']]);
      expect(issue?.diagnostics).toContain(`"${operation}"`);
      expect(issue?.diagnostics).toContain(hint);
    });

    it('C13.3: a policy that an older release stored with an unknown Operation stays readable and grants nothing', async () => {
      await app.put('/AccessPolicy/older', allow(link('Operation', 'FhirVread')));
      const database = await app.connect();
      await database.query(`update resource set body = replace(body, 'FhirVread', 'FhirGone') where id = 'older'`);
      await database.end();
      expect((await app.get('/AccessPolicy/older')).text).toContain('FhirGone');
      await withPolicy(allow(link('Operation', 'FhirRead')), async () => {
        expect((await asNurse('GET', '/Patient/p-1')).status).toBe(200);
        expect((await asNurse('GET', '/Patient/p-1/_history/1')).status).toBe(403);
      });
      expect((await app.delete('/AccessPolicy/older')).status).toBe(200);
    });

    it('if any of its links matches', async () => {
      await withPolicy(
        allow(link('User', 'somebody'), link('Client', 'machine'), link('Operation', 'FhirRead')),
        async () => {
          const statuses = [
            await asNurse('GET', '/Patient/p-1'),
            await asNurse('GET', '/Patient'),
            await asMachine('/Patient'),
          ];
          expect(statuses.map(({ status }) => status)).toEqual([200, 403, 200]);
        },
      );
    });

    it('without links, for every caller with credentials', async () => {
      await withPolicy(allow(), async () => {
        const answers = [
          await asNurse('GET', '/Patient/p-1'),
          await asMachine('/Patient'),
          await app.get('/Patient', { authorization: null }),
        ];
        expect(answers.map(({ status }) => status)).toEqual([200, 200, 401]);
      });
    });

    it('from the response to its creation until the response to its deletion', async () => {
      for (let round = 0; round < 10; round++) {
        await withPolicy(allow(link('User', 'nurse')), async () => {
          expect((await asNurse('GET', '/Patient/p-1')).status).toBe(200);
        });
        expect((await asNurse('GET', '/Patient/p-1')).status).toBe(403);
      }
    });

    it('only with its current links after a change', async () => {
      await app.put('/AccessPolicy/moving', allow(link('User', 'nurse')));
      expect((await asNurse('GET', '/Patient/p-1')).status).toBe(200);
      await app.put('/AccessPolicy/moving', allow(link('User', 'somebody')));
      expect((await asNurse('GET', '/Patient/p-1')).status).toBe(403);
      await app.delete('/AccessPolicy/moving');
    });

    it('that stays in force when an invalid change of it is refused', async () => {
      await withPolicy(allow(link('User', 'nurse')), async () => {
        expect((await app.put(`/AccessPolicy/policy-${number}`, { engine: 'nonsense' })).status).toBe(422);
        expect((await asNurse('GET', '/Patient/p-1')).status).toBe(200);
      });
    });
  });

  describe('a policy that cannot be parsed', () => {
    it.each<[string, object]>([
      ['engine', {}],
      ['engine', { engine: 'deny' }],
      ['matcho', { engine: 'matcho' }],
      ['engine', { engine: 'Allow' }],
      ['engine', { engine: null }],
      ['engine', { engine: ['allow'] }],
      ['engine', { engine: 'constructor' }],
      ['link', { engine: 'allow', link: [] }],
      ['link', { engine: 'allow', link: null }],
      ['link', { engine: 'allow', link: { resourceType: 'User', id: 'nurse' } }],
      ['link', { engine: 'allow', link: ['User/nurse'] }],
      ['link', { engine: 'allow', link: [{ reference: 'User/nurse' }] }],
      ['link', { engine: 'allow', link: [{ resourceType: 'User' }] }],
      ['link', { engine: 'allow', link: [{ resourceType: 'User', id: '' }] }],
      ['link', { engine: 'allow', link: [{ resourceType: 'Role', id: 'nurse' }] }],
      ['link', { engine: 'allow', link: [{ resourceType: 'User', id: 'nurse' }, null] }],
      ['roleName', { engine: 'allow', roleName: '' }],
      ['roleName', { engine: 'allow', roleName: ['nurse'] }],
      ['criteria', { engine: 'allow', criteria: [] }],
      ['criteria', { engine: 'allow', criteria: '' }],
      ['criteria', { engine: 'allow', criteria: null }],
      ['criteria', { engine: 'allow', criteria: [7] }],
      ['criteria', { engine: 'allow', criteria: 'NoSuchType?_id=p-1' }],
      ['criteria', { engine: 'allow', criteria: 'Patient?' }],
      ['criteria', { engine: 'allow', criteria: 'Patient/p-1' }],
      ['criteria', { engine: 'allow', criteria: 'Patient?_id=' }],
      ['criteria', { engine: 'allow', criteria: 'Patient?nonsense=1' }],
      ['criteria', { engine: 'allow', criteria: 'Patient?_id=p-1&_count=5' }],
      ['criteria', { engine: 'allow', criteria: 'Patient?_id=p-1&_include=Patient:organization' }],
      ['criteria', { engine: 'allow', criteria: 'Patient?name=rivera' }],
      ['criteria', { engine: 'allow', criteria: 'Patient?name:contains=rivera' }],
      ['criteria', { engine: 'allow', criteria: 'Observation?subject:Patient.name=rivera' }],
      ['criteria', { engine: 'allow', criteria: 'Observation?code:text=weight' }],
      ['criteria', { engine: 'allow', criteria: 'Patient?_content=rivera' }],
      ['criteria', { engine: 'allow', criteria: 'Patient?_filter=active eq true' }],
      ['criteria', { engine: 'allow', criteria: 'Patient?name:starts=rivera' }],
      ['criteria', { engine: 'allow', criteria: 'Patient?_ilike=rivera' }],
      ['criteria', { engine: 'allow', criteria: 'Patient?.managingOrganization.reference$starts=Organization/w1' }],
      ['criteria', { engine: 'allow', criteria: 'Observation?subject:Patient..name.family$contains={{user.id}}' }],
      ['criteria', { engine: 'allow', criteria: 'Patient?_has:Observation:patient:.code.text::text$ends=x' }],
      ['criteria', { engine: 'allow', criteria: 'Patient?_timeout=1&_id=p-1' }],
      ['criteria', { engine: 'allow', criteria: 'Patient?birthdate=somewhen' }],
      ['criteria', { engine: 'allow', criteria: 'Patient?_id={{user.id' }],
      ['criteria', { engine: 'allow', criteria: 'Patient?_id={{}}' }],
      ['criteria', { engine: 'allow', criteria: 'Patient?_id={{usr.id}}' }],
      ['criteria', { engine: 'allow', criteria: 'Patient?{{user.data.name}}=1' }],
      ['criteria', { engine: 'allow', criteria: '{{user.data.type}}?_id=1' }],
      ['criteria', { engine: 'allow', criteria: ['Patient?_id=p-1', 'Patient?_id='] }],
      ['matcho', { engine: 'allow', matcho: { uri: '/Patient' } }],
      ['type', { engine: 'allow', type: 'scope' }],
      ['type', { engine: 'allow', type: ['rest'] }],
      ['engine', { engine: 'sql', sql: { query: 'select true' } }],
      ['engine', { engine: 'smart-on-fhir' }],
      ['engine', { engine: 'toString' }],
      ['links', { engine: 'allow', links: [{ resourceType: 'User', id: 'nurse' }] }],
    ])('is refused for its %s: %j', async (member, policy) => {
      const answer = await app.put('/AccessPolicy/unclear', policy);
      expect([answer.status, answer.json<{ issue: { expression: string[] }[] }>().issue[0]?.expression]).toEqual([
        422,
        [`AccessPolicy.${member}`],
      ]);
      expect((await app.get('/AccessPolicy/unclear')).status).toBe(404);
    });

    it('is not one with a description, a module and tags, which is stored', async () => {
      const policy = {
        ...allow(link('User', 'x')),
        description: 'For x',
        module: 'ward',
        meta: { tag: [{ code: 'x' }] },
      };
      await withPolicy(policy, () => Promise.resolve());
    });
  });

  describe('without credentials', () => {
    const PUBLIC = [
      'GET /health',
      'GET /health/live',
      'GET /health/ready',
      'GET /metadata',
      'GET /fhir/metadata',
      'GET /.well-known/jwks.json',
      'GET /.well-known/oauth-authorization-server',
      'GET /.well-known/openid-configuration',
      'GET /.well-known/smart-configuration',
      'GET /fhir/.well-known/smart-configuration',
      'GET /api',
      'GET /api-json',
      'POST /auth/token',
      'POST /auth/introspect',
      'POST /auth/revoke',
    ];

    it.each(PUBLIC)('%s answers', async (route) => {
      const [method = '', path = ''] = route.split(' ');
      const { status } = await app.send(method, path, { authorization: null });
      expect(status).toBe(method === 'POST' ? 400 : 200);
    });

    it('no other route answers', async () => {
      const routes = routesOf(app).filter(
        ({ method, path }) =>
          !PUBLIC.includes(`${method} ${path}`) && !/^\/(api|auth\/(token|introspect|revoke))(\W|$)/.test(path),
      );
      expect(routes.length).toBeGreaterThan(20);
      for (const { method, path } of routes) {
        const url = path.replace(/:type/g, 'Patient').replace(/:\w+/g, 'x');
        const { status } = await app.send(method, url, { authorization: null });
        expect({ method, path, status }).toEqual({ method, path, status: expected(method, url) });
      }
    });

    /** Public routes answer other methods by their own rules; all other routes require a caller. */
    const expected = (method: string, url: string): unknown => {
      if (url.includes('.well-known/*')) return 404;
      if (/^\/(health(\/live|\/ready)?|metadata|fhir\/metadata)$/.test(url)) return method === 'HEAD' ? 200 : 405;
      return method === 'HEAD' && PUBLIC.includes(`GET ${url}`) ? 200 : 401;
    };

    it.each([
      '/',
      '/nowhere',
      '/a/b/c/d',
      '/fhir',
      '/fhir/a/b/c/d',
      '/Patient/p-1/Observation',
      '/auth/other',
      '/consoles',
    ])('GET %s reveals nothing', async (path) => {
      const { status, text } = await app.get(path, { authorization: null });
      expect([401, 404]).toContain(status);
      expect(text).not.toContain('p-1"');
    });
  });

  it('is granted to a User who logged in with the initial password', async () => {
    await app.put('/Client/door', { grant_types: ['password'] });
    const answer = await app.post(
      '/auth/token',
      { grant_type: 'password', client_id: 'door', username: 'admin', password: ADMIN_PASSWORD },
      { authorization: null },
    );
    const authorization = `Bearer ${answer.json<{ access_token: string }>().access_token}`;
    expect((await app.get('/Patient/p-1', { authorization })).status).toBe(200);
  });

  describe('the trial policy', () => {
    const started = (databaseUrl: string, trial: 'on' | 'off'): Promise<TestApp> =>
      startTestApp({ databaseUrl, environment: { SVC_TRIAL_POLICY: trial } });

    async function onNewDatabase(work: (url: string) => Promise<void>): Promise<void> {
      const database: ClonedDatabase = await cloneDatabase();
      await work(database.url).finally(() => database.drop());
    }
    const trialOf = async (running: TestApp): Promise<number> => (await running.get('/AccessPolicy/trial')).status;

    it('lets every caller do everything, until it is deleted permanently', async () => {
      await onNewDatabase(async (url) => {
        const first = await started(url, 'on');
        const caller = await login(first, 'newcomer', { policies: [] });
        const asCaller = async (running: TestApp): Promise<number> =>
          (await running.put('/Patient/mine', {}, { authorization: caller.bearer })).status;
        expect([await trialOf(first), await asCaller(first)]).toEqual([200, 201]);
        expect((await first.delete('/AccessPolicy/trial', { authorization: caller.bearer })).status).toBe(200);
        expect([await trialOf(first), await asCaller(first)]).toEqual([410, 403]);
        await first.close();
        const second = await started(url, 'on');
        expect([await trialOf(second), await asCaller(second)]).toEqual([410, 403]);
        await second.close();
      });
    });

    it('is not created if it is off at the first start, even if it is on later', async () => {
      await onNewDatabase(async (url) => {
        for (const trial of ['off', 'on'] as const) {
          const running = await started(url, trial);
          expect(await trialOf(running)).toBe(404);
          await running.close();
        }
      });
    });
  });

  describe('the first start on an external database', () => {
    const KEY = { SVC_ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64') };
    const SECRETS = { SVC_ROOT_CLIENT_SECRET: 'first secret', SVC_ADMIN_PASSWORD: 'first password' };

    async function start(databaseUrl: string, settings: object): Promise<string> {
      const environment = readEnvironment({
        DATABASE_URL: databaseUrl,
        HOST: '127.0.0.1',
        PORT: '0',
        SVC_LOG_LEVEL: 'error',
        ...settings,
      });
      try {
        const server = await startServer(environment, () => undefined);
        const headers = { Authorization: basicHeader('root', SECRETS.SVC_ROOT_CLIENT_SECRET) };
        const { status } = await fetch(`${server.url}/Patient`, { headers });
        await server.stop();
        return String(status);
      } catch (error) {
        return error instanceof Error ? error.message : 'unknown';
      }
    }

    it('reports each missing setting; after a start with all, later starts need no secrets', async () => {
      const database = await cloneDatabase();
      try {
        const { SVC_ROOT_CLIENT_SECRET, SVC_ADMIN_PASSWORD } = SECRETS;
        expect(await start(database.url, { ...KEY, SVC_ADMIN_PASSWORD })).toContain('SVC_ROOT_CLIENT_SECRET');
        expect(await start(database.url, { ...KEY, SVC_ROOT_CLIENT_SECRET })).toContain('SVC_ADMIN_PASSWORD');
        expect(await start(database.url, SECRETS)).toContain('SVC_ENCRYPTION_KEY');
        expect(await start(database.url, { ...KEY, ...SECRETS })).toBe('200');
        expect(await start(database.url, KEY)).toBe('200');
        expect(await start(database.url, { ...KEY, SVC_ROOT_CLIENT_SECRET: 'another' })).toBe('200');
      } finally {
        await database.drop();
      }
    });
  });
});

const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete'];

/** Every route of the Express router, with each method that it answers. */
function routesOf({ app }: TestApp): { method: string; path: string }[] {
  return app
    .getHttpAdapter()
    .getInstance()
    .router.stack.flatMap(({ route }) => {
      if (route === undefined) return [];
      const methods = METHODS.filter((method) => route.stack.some((layer) => layer.method === method));
      return [route.path].flat().flatMap((path) => methods.map((method) => ({ method: method.toUpperCase(), path })));
    });
}
