import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { type Bundle, followPages, type HistoryEntry } from '../../support/bundle';
import { BASE_URL, startTestApp, type TestApp } from '../../../testing/test-app';

interface Outcome {
  readonly resourceType: 'OperationOutcome';
  readonly id: string;
  readonly issue: readonly { readonly severity: string; readonly code: string; readonly diagnostics: string }[];
}

const patient = (id: string, family = 'Rivera'): object => ({ resourceType: 'Patient', id, name: [{ family }] });

describe('the resource API', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp({ environment: { SVC_AUDIT: 'off' } });
  });
  afterAll(() => app.close());

  describe.each(['/fhir', ''])('on the root "%s"', (root) => {
    const idOf = (name: string): string => `${name}${root === '' ? '-plain' : '-fhir'}`;

    it('creates with a new UUID, and returns the location of the version', async () => {
      const created = await app.post(`${root}/Patient`, { name: [{ family: 'New' }] });
      const { id, meta } = created.json<{ id: string; meta: { versionId: string; lastUpdated: string } }>();
      expect(created.status).toBe(201);
      expect(id).toMatch(/^[0-9a-f-]{36}$/);
      expect(meta.versionId).toBe('1');
      expect(created.headers.get('location')).toBe(`${BASE_URL}${root}/Patient/${id}/_history/1`);
      expect(created.headers.get('etag')).toBe('W/"1"');
      expect(created.headers.get('last-modified')).toBe(new Date(meta.lastUpdated).toUTCString());
      expect(created.headers.get('content-type')).toBe('application/fhir+json; charset=utf-8');
      expect((await app.get(`${root}/Patient/${id}`)).text).toBe(created.text);
    });

    it('keeps the id of a POST, and refuses the same id again', async () => {
      expect((await app.post(`${root}/Patient`, patient(idOf('posted')))).status).toBe(201);
      const again = await app.post(`${root}/Patient`, patient(idOf('posted')));
      expect(again.status).toBe(409);
      expect(again.json<Outcome>().issue[0]?.code).toBe('duplicate');
    });

    it('creates by PUT with 201, replaces with 200, and keeps both versions', async () => {
      const path = `${root}/Patient/${idOf('put')}`;
      const first = await app.put(path, patient(idOf('put')));
      const second = await app.put(path, patient(idOf('put'), 'Changed'));
      expect([first.status, second.status]).toEqual([201, 200]);
      expect(second.headers.get('etag')).toBe('W/"2"');
      expect((await app.get(`${path}/_history/1`)).text).toBe(first.text);
      expect((await app.get(`${path}/_history/2`)).text).toBe(second.text);
      expect((await app.get(`${path}/_history/3`)).status).toBe(404);
    });

    it('adds id and resourceType from the URL', async () => {
      const stored = await app.put(`${root}/Patient/${idOf('bare')}`, { active: true });
      expect(stored.json()).toMatchObject({ resourceType: 'Patient', id: idOf('bare'), active: true });
    });

    it('accepts a trailing slash', async () => {
      await app.put(`${root}/Patient/${idOf('slash')}/`, patient(idOf('slash')));
      expect((await app.get(`${root}/Patient/${idOf('slash')}/`)).status).toBe(200);
      expect((await app.get(`${root}/Patient/?_id=${idOf('slash')}`)).json<Bundle>().total).toBe(1);
    });
  });

  it('returns the sent bytes, except id, meta, resourceType and white space outside strings', async () => {
    const body = `{ "b" : 1.10,  "resourceType":"SDCDocument","a":"two  spaces \\u00e9 é", "n": [1e2, -0.0, 12345678901234567890.10],"id":"bytes"}`;
    const stored = await app.put('/SDCDocument/bytes', body);
    const [, content] = /^\{"resourceType":"SDCDocument","id":"bytes","meta":\{[^}]*\},(.*)$/.exec(stored.text) ?? [];
    expect(content).toBe('"b":1.10,"a":"two  spaces \\u00e9 é","n":[1e2,-0.0,12345678901234567890.10]}');
  });

  it('keeps meta.profile, meta.tag and their digits, and sets version and time', async () => {
    const meta = {
      versionId: '99',
      lastUpdated: '1999-01-01T00:00:00Z',
      profile: ['http://svc.example/p'],
      tag: [{ code: 't' }],
    };
    const stored = await app.put('/Patient/meta', { ...patient('meta'), meta });
    expect(stored.json<{ meta: object }>().meta).toEqual({
      versionId: '1',
      lastUpdated: expect.stringMatching(/^20\d\d-.*Z$/),
      extension: [{ url: 'urn:svc:created-at', valueInstant: expect.stringMatching(/^20\d\d-.*Z$/) }],
      profile: ['http://svc.example/p'],
      tag: [{ code: 't' }],
    });
  });

  it('creates no version if only white space or key order changes', async () => {
    await app.put('/Patient/same', '{"resourceType":"Patient","active":true,"gender":"female"}');
    const again = await app.put('/Patient/same', '{ "gender": "female", "resourceType":"Patient", "active" : true }');
    expect(again.status).toBe(200);
    expect(again.headers.get('etag')).toBe('W/"1"');
    const weight = (value: string): string =>
      `{"status":"final","code":{"text":"weight"},"valueQuantity":{"value":${value}}}`;
    const digits = await app.put('/Observation/digits', weight('1.1'));
    expect((await app.put('/Observation/digits', weight('1.10'))).headers.get('etag')).toBe('W/"2"');
    expect(digits.status).toBe(201);
  });

  describe('deletion', () => {
    it('returns 200 with the deleted resource, then 204; a read is 410, and versions continue', async () => {
      const stored = await app.put('/Patient/gone', patient('gone'));
      const deleted = await app.delete('/Patient/gone');
      expect([deleted.status, deleted.text]).toEqual([200, stored.text]);
      expect((await app.delete('/Patient/gone')).status).toBe(204);
      const read = await app.get('/Patient/gone');
      expect([read.status, read.json<Outcome>().issue[0]?.code]).toEqual([410, 'deleted']);
      expect((await app.get('/Patient/gone/_history/2')).status).toBe(410);
      expect((await app.get('/Patient?_id=gone')).json<Bundle>().total).toBe(0);
      const back = await app.put('/Patient/gone', patient('gone', 'Back'));
      expect([back.status, back.headers.get('etag')]).toEqual([201, 'W/"3"']);
      expect((await app.get('/Patient/gone')).status).toBe(200);
    });

    it('returns 204 for an unknown resource', async () => {
      expect((await app.delete('/Patient/never')).status).toBe(204);
      expect((await app.get('/Patient/never')).status).toBe(404);
    });
  });

  describe('If-Match', () => {
    it('writes if the version matches, else returns 412', async () => {
      await app.put('/Patient/match', patient('match'));
      const wrong = await app.put('/Patient/match', patient('match', 'B'), { headers: { 'If-Match': 'W/"7"' } });
      expect([wrong.status, wrong.json<Outcome>().issue[0]?.code]).toEqual([412, 'conflict']);
      for (const [tag, etag] of [
        ['W/"1"', 'W/"2"'],
        ['"2"', 'W/"3"'],
        ['3', 'W/"4"'],
        ['W/"9", W/"4"', 'W/"5"'],
        ['*', 'W/"6"'],
      ] as const) {
        const written = await app.put('/Patient/match', patient('match', tag), { headers: { 'If-Match': tag } });
        expect([tag, written.status, written.headers.get('etag')]).toEqual([tag, 200, etag]);
      }
      expect((await app.delete('/Patient/match', { headers: { 'If-Match': 'W/"1"' } })).status).toBe(412);
      expect((await app.delete('/Patient/match', { headers: { 'If-Match': 'W/"6"' } })).status).toBe(200);
    });

    it('refuses * if nothing is stored, and an invalid value', async () => {
      expect((await app.put('/Patient/nothing', patient('nothing'), { headers: { 'If-Match': '*' } })).status).toBe(
        412,
      );
      expect((await app.put('/Patient/nothing', patient('nothing'), { headers: { 'If-Match': 'abc' } })).status).toBe(
        400,
      );
      expect((await app.get('/Patient/nothing')).status).toBe(404);
    });

    it('lets one of sixteen concurrent writers succeed, and versions have no gap', async () => {
      await app.put('/Patient/race', patient('race', 'start'));
      const writes = Array.from({ length: 16 }, (_, n) =>
        app.put('/Patient/race', patient('race', `writer ${n}`), { headers: { 'If-Match': 'W/"1"' } }),
      );
      const statuses = (await Promise.all(writes)).map(({ status }) => status).sort();
      expect(statuses).toEqual([200, ...Array.from({ length: 15 }, () => 412)]);
      expect((await app.get('/Patient/race')).headers.get('etag')).toBe('W/"2"');
    });
  });

  it('stores sixteen versions without a gap for sixteen concurrent writers', async () => {
    const writes = Array.from({ length: 16 }, (_, n) => app.put('/Patient/busy', patient('busy', `writer ${n}`)));
    const answers = await Promise.all(writes);
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array.from({ length: 15 }, () => 200), 201]);
    expect(
      answers.map(({ headers }) => Number(/\d+/.exec(headers.get('etag') ?? '')?.[0])).sort((a, b) => a - b),
    ).toEqual(Array.from({ length: 16 }, (_, n) => n + 1));
    const history = (await app.get('/Patient/busy/_history')).json<Bundle<HistoryEntry>>();
    expect(history.entry.map(({ resource }) => resource?.meta.versionId)).toEqual(
      Array.from({ length: 16 }, (_, n) => String(16 - n)),
    );
  });

  it('lets one of sixteen concurrent creates of one id succeed', async () => {
    const creates = Array.from({ length: 16 }, () => app.post('/Patient', patient('created-once')));
    const statuses = (await Promise.all(creates)).map(({ status }) => status).sort();
    expect(statuses).toEqual([201, ...Array.from({ length: 15 }, () => 409)]);
  });

  describe('history', () => {
    it('lists versions newest first with their requests, and pages without a gap', async () => {
      await app.post('/Patient', patient('past', 'A'));
      await app.put('/Patient/past', patient('past', 'B'));
      await app.delete('/Patient/past');
      await app.put('/Patient/past', patient('past', 'C'));
      const whole = (await app.get('/fhir/Patient/past/_history')).json<Bundle<HistoryEntry>>();
      expect([whole.type, whole.total]).toEqual(['history', 4]);
      expect(whole.entry.map(({ request }) => request)).toEqual([
        { method: 'PUT', url: 'Patient/past' },
        { method: 'DELETE', url: 'Patient/past' },
        { method: 'PUT', url: 'Patient/past' },
        { method: 'POST', url: 'Patient' },
      ]);
      expect(whole.entry[1]?.resource).toBeUndefined();
      const pages = await followPages<HistoryEntry>(app, '/fhir/Patient/past/_history?_count=1');
      expect(pages.flatMap(({ entry }) => entry)).toEqual(whole.entry);
    });

    it('is 404 for an unknown resource, and is read-only', async () => {
      expect((await app.get('/Patient/never/_history')).status).toBe(404);
      const written = await app.post('/Patient/past/_history', {});
      expect([written.status, written.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    });

    it('is append-only in the database too', async () => {
      const client = await app.connect();
      await expect(client.query(`update resource_history set method = 'PUT'`)).rejects.toThrow('append-only');
      await expect(client.query('delete from resource_history')).rejects.toThrow('append-only');
      await client.end();
    });
  });

  describe('errors', () => {
    const deep = (levels: number): string =>
      `{"resourceType":"SDCDocument","x":${'['.repeat(levels)}${']'.repeat(levels)}}`;

    it.each<[string, string, string, number]>([
      ['malformed JSON', '/Patient', '{"resourceType":"Patient"', 400],
      ['an empty body', '/Patient', ' ', 400],
      ['a list', '/Patient', '[]', 400],
      ['a string', '/Patient', '"Patient"', 400],
      ['null', '/Patient', 'null', 400],
      ['another type than the URL', '/Patient', '{"resourceType":"Observation"}', 400],
      ['a duplicate key', '/Patient', '{"active":true,"active":false}', 400],
      ['an escaped duplicate key', '/Patient', '{"a":1,"\\u0061":2}', 400],
      ['a nested duplicate key', '/Patient', '{"name":[{"given":["A"],"given":["B"]}]}', 400],
      ['NUL in a string', '/Patient', '{"name":[{"family":"A\\u0000B"}]}', 400],
      ['half a surrogate pair', '/Patient', '{"name":[{"family":"\\ud800"}]}', 400],
      ['__proto__', '/Patient', '{"__proto__":{"polluted":true}}', 400],
      ['constructor', '/Patient', '{"extension":[{"constructor":{"prototype":{"polluted":true}}}]}', 400],
      ['an escaped key "prototype"', '/Patient', '{"\\u0070rototype":1}', 400],
      ['more than 64 levels', '/SDCDocument', deep(64), 400],
      ['a million levels', '/SDCDocument', deep(1_000_000), 400],
      ['a number of 41 characters', '/Observation', `{"x":${'1'.repeat(41)}}`, 400],
      ['a number with a huge exponent', '/Observation', '{"x":1e131071}', 400],
      ['an invalid id', '/Patient', '{"id":"a b"}', 400],
      ['an id that is too long', '/Patient', `{"id":"${'a'.repeat(65)}"}`, 400],
      ['an id that is not a string', '/Patient', '{"id":7}', 422],
      ['a meta that is not an object', '/Patient', '{"meta":[]}', 422],
      ['an unknown type', '/Patientt', '{}', 404],
    ])('refuse %s', async (_name, path, body, status) => {
      const refused = await app.post(`/fhir${path}`, body);
      const outcome = refused.json<Outcome>();
      expect([refused.status, outcome.resourceType, outcome.issue[0]?.severity]).toEqual([
        status,
        'OperationOutcome',
        'fatal',
      ]);
      expect(outcome.id).toBe(outcome.issue[0]?.code);
    });

    it('do not occur for 63 levels of arrays in an object', async () => {
      expect((await app.post('/SDCDocument', deep(63))).status).toBe(201);
    });

    it('never repeat a value of the body', async () => {
      const refused = await app.post('/Patient', '{"name":[{"family":"Canary-Name"}],"name":"Canary-Name" oops}');
      expect(refused.status).toBe(400);
      expect(refused.text).not.toContain('Canary');
    });

    it('refuse invalid UTF-8, other media types and a body over the limit', async () => {
      const bytes = await fetch(`${app.url}/Patient`, {
        method: 'POST',
        headers: {
          Authorization: `Basic ${Buffer.from('root:root-secret-for-specs').toString('base64')}`,
          'Content-Type': 'application/json',
        },
        body: Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
      });
      expect(bytes.status).toBe(400);
      expect(
        (await app.post('/Patient', '<Patient/>', { headers: { 'Content-Type': 'application/fhir+xml' } })).status,
      ).toBe(415);
      const large = await app.post('/Patient', `{"text":"${'a'.repeat(20 * 1024 * 1024)}"}`);
      expect([large.status, large.json<Outcome>().issue[0]?.code]).toEqual([413, 'too-long']);
    });

    it('refuse a PUT whose body has another id than the URL', async () => {
      const refused = await app.put('/Patient/one', patient('two'));
      expect(refused.status).toBe(400);
      expect((await app.get('/Patient/one')).status).toBe(404);
    });

    it.each([
      ['POST', '/Patient/x', 'GET, HEAD, PUT, PATCH, DELETE'],
      ['OPTIONS', '/Patient', 'GET, HEAD, POST, PUT, PATCH, DELETE'],
      ['PATCH', '/SDCAddendum/x', 'GET, HEAD'],
      ['PUT', '/SDCAddendum/x', 'GET, HEAD'],
      ['POST', '/SDCAddendum', 'GET, HEAD'],
      ['DELETE', '/SDCAddendum/x', 'GET, HEAD'],
    ])('return 405 for %s %s, with the allowed methods', async (method, path, allow) => {
      const refused = await app.send(method, `/fhir${path}`, { body: {} });
      expect([refused.status, refused.headers.get('allow')]).toEqual([405, allow]);
    });

    it('return 404 for unknown routes and operations', async () => {
      for (const path of [
        '/Patient/x/y/z',
        '/fhir/Patient/x/$nothing',
        '/Patient/$nothing',
        '/$nothing',
        '/fhir/nothing/x',
      ]) {
        expect([path, (await app.get(path)).status]).toEqual([path, 404]);
      }
    });

    it('return 400 for broken percent-encoding', async () => {
      expect((await app.get('/Patient/%E0%A4%A')).status).toBe(400);
    });

    it('leave no row, no history and no reference of a rolled-back write', async () => {
      const before = await rowCounts(app.databaseUrl);
      expect((await app.put('/AccessPolicy/bad', { engine: 'nonsense' })).status).toBe(422);
      await app.put('/User/first', { userName: 'taken' });
      const between = await rowCounts(app.databaseUrl);
      expect(
        (await app.put('/User/second', { userName: 'taken', manager: { resourceType: 'User', id: 'first' } })).status,
      ).toBe(409);
      expect(await rowCounts(app.databaseUrl)).toEqual(between);
      expect(between.resource).toBe((before.resource ?? 0) + 1);
    });
  });

  it('returns a request id, and accepts a valid one from the caller', async () => {
    expect((await app.get('/Patient/never')).headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(
      (await app.get('/Patient/never', { headers: { 'X-Request-Id': 'my-id.1' } })).headers.get('x-request-id'),
    ).toBe('my-id.1');
    expect(
      (await app.get('/Patient/never', { headers: { 'X-Request-Id': 'a"b' } })).headers.get('x-request-id'),
    ).not.toContain('"');
  });

  it('lists the registered types and operations in /metadata', async () => {
    const statement = (await app.get('/fhir/metadata', { authorization: null })).json<{
      fhirVersion: string;
      rest: { resource: { type: string; interaction: { code: string }[]; operation: { name: string }[] }[] }[];
    }>();
    const types = new Map(statement.rest[0]?.resource.map((resource) => [resource.type, resource]));
    expect(statement.fhirVersion).toBe('4.0.1');
    expect(types.size).toBeGreaterThan(150);
    expect(types.get('Patient')?.operation.map(({ name }) => name)).toEqual(['everything', 'validate']);
    expect(types.get('SDCAddendum')?.interaction.map(({ code }) => code)).not.toContain('create');
  });
});

async function rowCounts(databaseUrl: string): Promise<Record<string, number>> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query<Record<string, string>>(
    `select (select count(*) from resource) as resource, (select count(*) from resource_history) as history,
      (select count(*) from search_token) as tokens, (select count(*) from reference_link) as links,
      (select count(*) from search_date) as dates, (select count(*) from outbox_event) as events`,
  );
  await client.end();
  return Object.fromEntries(Object.entries(rows[0] ?? {}).map(([name, count]) => [name, Number(count)]));
}
