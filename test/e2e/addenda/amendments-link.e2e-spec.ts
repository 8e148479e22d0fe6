import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Client } from 'pg';
import { BackgroundTasks } from '../../../src/platform/background/background-tasks';
import { type Received, type TestApp, startTestApp } from '../../../testing/test-app';
import { type Person, login } from '../../../testing/world';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const PATH = '/SDCDocument/d1/$amendments';
const everything = { engine: 'allow', link: [{ resourceType: 'User', id: 'nurse' }] };

describe('U8: $amendments-link', () => {
  let app: TestApp;
  let replica: TestApp;
  let database: Client;
  let nurse: Person;

  beforeAll(async () => {
    app = await startTestApp({ environment: { SVC_AUDIT: 'all' } });
    replica = await startTestApp({ databaseUrl: app.databaseUrl, environment: { SVC_AUDIT: 'all' } });
    database = await app.connect();
    nurse = await login(app, 'nurse');
    for (const id of ['d1', 'd2']) await app.put(`/SDCDocument/${id}`, { status: 'completed' });
    await app.put('/SDCWorkflow/w1', { status: 'completed' });
  });
  afterAll(async () => {
    await replica.close();
    await app.close();
  });
  beforeEach(() => app.put('/AccessPolicy/policy-of-nurse', everything));

  const ask = (path = PATH, authorization = nurse.bearer): Promise<Received> =>
    app.send('POST', `${path}-link`, { authorization });
  async function newLink(path = PATH, authorization = nurse.bearer): Promise<string> {
    const answer = await ask(path, authorization);
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
    const [url] = answer.json<{ parameter: { valueUrl: string }[] }>().parameter;
    return url?.valueUrl ?? '';
  }
  const open = (link: string, method = 'GET', on = app): Promise<Received> =>
    on.send(method, link, { authorization: null, headers: { Accept: BROWSER } });

  it.each([PATH, `/fhir${PATH}`, '/SDCWorkflow/w1/$amendments'])('opens %s once, on any replica', async (path) => {
    const link = await newLink(path);
    expect(link).toMatch(new RegExp(`^http://svc.example${path.replaceAll('$', '\\$')}\\?link-token=[\\w-]{43}$`));
    for (const on of [app, replica]) expect((await open(link, 'HEAD', on)).status).toBe(200);
    const { status, headers, text } = await open(link, 'GET', replica);
    expect([status, headers.get('content-type')]).toEqual([200, expect.stringContaining('text/html')]);
    expect([headers.get('cache-control'), headers.get('referrer-policy')]).toEqual(['no-store', 'no-referrer']);
    expect(text).toContain('<h1>');
    const again = [await open(link), await open(link, 'HEAD')];
    expect(again.map((answer) => answer.status)).toEqual([401, 401]);
  });

  it('opens for exactly one of eight concurrent requests', async () => {
    const link = await newLink();
    const answers = await Promise.all(Array.from({ length: 8 }, () => open(link)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(7).fill(401)]);
  });

  it('expires after 60 s or with its Session; expired rows are deleted', async () => {
    const expired = await newLink();
    const { rows } = await database.query<{ seconds: number }>(
      'select extract(epoch from expires_at - clock_timestamp())::float8 as seconds from session_link',
    );
    expect(rows.every(({ seconds }) => seconds > 50 && seconds <= 60)).toBe(true);
    await database.query('update session_link set expires_at = clock_timestamp()');
    expect((await open(expired)).status).toBe(401);
    await app.app.get(BackgroundTasks).wake('sweep of links');
    expect((await database.query('select from session_link')).rowCount).toBe(0);
    const guest = await login(app, 'guest');
    const orphaned = await newLink(PATH, guest.bearer);
    await app.delete('/Session', { authorization: guest.bearer });
    expect((await open(orphaned)).status).toBe(401);
  });

  it('opens no other page, and is not accepted as a token', async () => {
    const link = await newLink();
    const token = link.slice(link.indexOf('=') + 1);
    for (const path of [
      '/SDCDocument/d2/$amendments',
      '/SDCDocument/d1',
      '/Patient',
      '/SDCDocument/d1/$amendments-link',
    ])
      expect([path, (await open(`${path}?link-token=${token}`)).status]).toEqual([path, 401]);
    expect((await open(link, 'POST')).status).toBe(401);
    expect((await app.get('/Patient', { authorization: `Bearer ${token}` })).status).toBe(401);
    expect((await open(link)).status).toBe(200);
  });

  it('is checked with the rights at the time when it is opened', async () => {
    const link = await newLink();
    await app.put('/AccessPolicy/policy-of-nurse', {
      ...everything,
      criteria: ['SDCDocument?encounter=Encounter/own'],
    });
    expect((await open(link)).status).toBe(404);
    await app.put('/AccessPolicy/policy-of-nurse', everything);
    const second = await newLink();
    await app.delete('/AccessPolicy/policy-of-nurse');
    expect((await open(second)).status).toBe(403);
  });

  it('is issued to callers who may read $amendments, with a Bearer token', async () => {
    expect((await app.send('POST', `${PATH}-link`)).status).toBe(401);
    expect((await app.send('POST', `${PATH}-link`, { authorization: null })).status).toBe(401);
    expect((await ask('/SDCDocument/none/$amendments')).status).toBe(404);
    expect((await app.get(`${PATH}-link`, { authorization: nurse.bearer })).status).toBe(405);
    await app.put('/AccessPolicy/policy-of-nurse', {
      engine: 'allow',
      link: [{ resourceType: 'Operation', id: 'FhirAmendmentsLink' }],
    });
    expect((await ask()).status).toBe(403);
    await app.put('/AccessPolicy/policy-of-nurse', {
      ...everything,
      criteria: ['SDCDocument?encounter=Encounter/own'],
    });
    expect((await ask()).status).toBe(404);
  });

  it('is stored only as a hash', async () => {
    const link = await newLink();
    const token = link.slice(link.indexOf('=') + 1);
    await open(link, 'HEAD');
    await open(link);
    const { rows } = await database.query<{ body: string }>(
      `select body from resource where type = 'AuditEvent' and body like '%amendments%'`,
    );
    expect(rows.length).toBeGreaterThan(0);
    const queries = rows.flatMap(({ body }) => [...body.matchAll(/"query":"([^"]+)"/g)].map(([, text = '']) => text));
    expect(queries.map((text) => Buffer.from(text, 'base64').toString())).toContain('link-token=***');
    expect(rows.filter(({ body }) => body.includes(token))).toEqual([]);
  });

  it('replaces the oldest one when its Session has more than 100', async () => {
    await database.query('delete from session_link');
    const first = await newLink();
    await database.query(
      `insert into session_link (token_hash, expires_at, session_id, target)
       select int4send(n), expires_at + interval '1 second', session_id, target from session_link, generate_series(1, 100) n`,
    );
    const last = await newLink();
    expect([(await open(first)).status, (await open(last)).status]).toEqual([401, 200]);
  });
});
