import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { searchParameterDefinitions } from '../../../src/fhir/definitions/definitions';
import { migrate } from '../../../src/platform/database/schema/migrate';
import { type Bundle, transactionOn } from '../../support/bundle';
import { databaseUrl, dropDatabase, runStatement } from '../../../testing/databases';
import { type Received, startTestApp, type TestApp } from '../../../testing/test-app';

const NAME = '/fhir/SearchParameter/Patient-name';
const MERGE = 'application/merge-patch+json';
const NAME_URL = 'http://hl7.org/fhir/SearchParameter/Patient-name';
const COUNT = searchParameterDefinitions().length;

type Body = Record<string, unknown>;

const totalOf = async (app: TestApp, query: string): Promise<unknown> =>
  (await app.get(`/fhir/SearchParameter?_summary=count&${query}`)).json<Bundle>().total;

describe("HL7's SearchParameters", () => {
  let app: TestApp;
  let hl7: Body;

  beforeAll(async () => {
    app = await startTestApp();
    hl7 = (await app.get(NAME)).json();
  });
  afterAll(() => app.close());

  it('are returned unchanged by the ids of HL7', () => {
    const { meta, ...content } = hl7;
    expect(meta).toMatchObject({ versionId: '1' });
    expect(content).toEqual({
      resourceType: 'SearchParameter',
      id: 'Patient-name',
      extension: [
        {
          url: 'http://hl7.org/fhir/StructureDefinition/structuredefinition-standards-status',
          valueCode: 'trial-use',
        },
      ],
      url: NAME_URL,
      version: '4.0.1',
      name: 'name',
      status: 'draft',
      experimental: false,
      date: '2019-11-01T09:29:23+11:00',
      publisher: 'Health Level Seven International (Patient Administration)',
      contact: [
        { telecom: [{ system: 'url', value: 'http://hl7.org/fhir' }] },
        { telecom: [{ system: 'url', value: 'http://www.hl7.org/Special/committees/pafm/index.cfm' }] },
      ],
      description:
        'A server defined search that may match any of the string fields in the HumanName, including family, give, prefix, suffix, suffix, and/or text',
      code: 'name',
      base: ['Patient'],
      type: 'string',
      expression: 'Patient.name',
      xpath: 'f:Patient/f:name',
      xpathUsage: 'normal',
    });
  });

  it('are found like other resources', async () => {
    expect(await totalOf(app, '')).toBe(COUNT);
    const { entry } = (await app.get('/fhir/SearchParameter?base=Patient&code=name')).json<Bundle>();
    expect(entry.map(({ resource }) => resource.id)).toEqual(['Patient-name']);
    expect(await totalOf(app, `url=${NAME_URL}`)).toBe(1);
    expect(await totalOf(app, 'type=composite')).toBe(46);
    expect((await app.get('/fhir/SearchParameter/_history?_count=0')).json<Bundle>().total).toBe(COUNT);
  });

  it('stay unchanged if they are sent unchanged', async () => {
    const sent = await app.put(NAME, hl7);
    expect([sent.status, sent.json<Body>().meta]).toEqual([200, hl7.meta]);
  });

  const definition = (members: object): Body => {
    const { id: _id, meta: _meta, ...content } = hl7;
    return { ...content, ...members };
  };

  it.each<[string, () => Promise<Received>, 'id' | 'url']>([
    ['a PUT of another expression', () => app.put(NAME, { ...hl7, expression: 'Patient.contact.name' }), 'url'],
    ['a PUT of another description', () => app.put(NAME, { ...hl7, description: 'mine' }), 'url'],
    ['a PUT of another parameter with the id', () => app.put(NAME, { ...hl7, url: 'http://a.example/1' }), 'id'],
    [
      'a PATCH',
      () => app.send('PATCH', NAME, { body: '{"status":"retired"}', headers: { 'Content-Type': MERGE } }),
      'url',
    ],
    ['a POST of a copy', () => app.post('/fhir/SearchParameter', definition({})), 'url'],
    ['a PUT of a copy', () => app.put('/fhir/SearchParameter/copy', definition({ id: 'copy' })), 'url'],
  ])('cannot be changed by %s', async (_what, send, element) => {
    const { status, text } = await send();
    expect([status, text]).toEqual([422, expect.stringContaining(`SearchParameter.${element}`)]);
    expect(text).toContain('store a SearchParameter of your own under another id, url and code');
    expect((await app.get(NAME)).json()).toEqual(hl7);
  });

  it('cannot be deleted, alone or in a Bundle', async () => {
    const answer = await app.delete(NAME);
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    expect(answer.text).toContain('store a SearchParameter of your own');
    const entry = [{ request: { method: 'DELETE', url: 'SearchParameter/Patient-name' } }];
    expect((await transactionOn(app, entry)).status).toBe(405);
    expect(await totalOf(app, '')).toBe(COUNT);
  });

  it('are those that the CapabilityStatement lists', async () => {
    const urls = new Set<unknown>();
    let next: string | undefined = '/fhir/SearchParameter?_count=1000&_elements=url&_sort=_id';
    while (next !== undefined) {
      const { entry, link }: Bundle = (await app.get(next)).json<Bundle>();
      for (const { resource } of entry) urls.add((resource as { url?: string }).url);
      next = link.find(({ relation }) => relation === 'next')?.url;
    }
    const { rest } = (await app.get('/fhir/metadata')).json<{
      rest: { resource: { searchParam: { definition?: string }[] }[] }[];
    }>();
    const named = rest
      .flatMap(({ resource }) => resource.flatMap(({ searchParam }) => searchParam))
      .flatMap(({ definition: url }) => url ?? []);
    expect(named.length).toBeGreaterThan(COUNT);
    expect(named.filter((url) => !urls.has(url))).toEqual([]);
  });
});

describe('the first start', () => {
  const { TEST_DATABASE_URL: adminUrl = '' } = process.env;
  let name: string;
  let url: string;
  let database: Client;
  const started: TestApp[] = [];

  const start = async (): Promise<TestApp> => {
    const app = await startTestApp({ databaseUrl: url });
    started.push(app);
    return app;
  };

  beforeAll(async () => {
    name = `svc_test_${randomBytes(6).toString('hex')}`;
    url = databaseUrl(adminUrl, name);
    await runStatement(adminUrl, `create database ${name}`);
    await migrate(url);
    database = new Client({ connectionString: url });
    await database.connect();
  });
  afterEach(() => Promise.all(started.splice(0).map((app) => app.close())));
  afterAll(async () => {
    await database.end();
    await dropDatabase(adminUrl, name);
  });

  const countOf = async (sql: string): Promise<number> =>
    (await database.query<{ count: string }>(`select count(*) as count from ${sql}`)).rows.map(({ count }) =>
      Number(count),
    )[0] ?? -1;

  it('stores all SearchParameters of HL7 or none', async () => {
    await database.query(`
      create function refuse() returns trigger language plpgsql as $$ begin raise exception 'broken off'; end $$;
      create trigger refuse before insert on resource for each row when (new.id = 'ServiceRequest-status') execute function refuse()`);
    await expect(start()).rejects.toThrow('broken off');
    expect([await countOf('resource'), await countOf('search_token')]).toEqual([0, 0]);
    await database.query('drop trigger refuse on resource');
  });

  it('stores them once if two servers start together, without events', async () => {
    await Promise.all([start(), start()]);
    expect(await countOf(`resource where type = 'SearchParameter' and version = 1`)).toBe(COUNT);
    expect(await countOf(`resource_history where type = 'SearchParameter'`)).toBe(0);
    expect(await countOf('outbox_event')).toBe(0);
  });

  it('is not repeated for a server with the same definitions', async () => {
    await database.query(
      `update resource set body = replace(body, 'A server defined search', 'What an older server had: a search') where id = 'Patient-name'`,
    );
    const app = await start();
    expect((await app.get(NAME)).text).toContain('What an older server had');
  });

  it('is repeated for a server with other definitions, which writes the differences', async () => {
    await database.query(`update server_setup set digest = 'of an older server' where name = 'search-parameters'`);
    const app = await start();
    const { meta, description } = (await app.get(NAME)).json<{ meta: object; description: string }>();
    expect([meta, description]).toEqual([
      expect.objectContaining({ versionId: '2' }),
      expect.stringMatching(/^A server defined search/),
    ]);
    expect(await totalOf(app, '_id=Patient-name&description=A server defined search')).toBe(1);
    expect(await countOf(`resource where type = 'SearchParameter' and version = 1`)).toBe(COUNT - 1);
  });
});
