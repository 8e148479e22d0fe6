import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { migrate } from '../../../src/platform/database/schema/migrate';
import { ROW_FORMAT, refuseFormatsBelow } from '../../../src/platform/database/row-format';
import { eventually } from '../../../testing/eventually';
import { type ClonedDatabase, cloneDatabase } from '../../../testing/test-databases';
import { type TestApp, startTestApp } from '../../../testing/test-app';

/** The statements by which version 0.1.0 creates, updates and deletes a resource, one for each. */
const WRITES_OF_0_1_0 = [
  `with created as (
     insert into resource (resource_key, main_date, type, id, reference_hash, version, updated_at, method, body)
     values (nextval('resource_key_sequence'), now(), 'Basic', 'old', 7, 1, now(), 'PUT', '{}') returning resource_key, main_date
   ) insert into search_token (token_hash, main_date, resource_key, patient_hash, system_hash)
     select 7, main_date, resource_key, 0, 0 from created`,
  `with kept as (
     insert into resource_history (updated_at, version, type, id, method, body)
     select updated_at, version, type, id, method, body from resource where type = 'Basic' and id = 'known' returning 1
   ) update resource set version = version + 1, body = '{}' where type = 'Basic' and id = 'known'`,
  `delete from resource where type = 'Basic' and id = 'known'`,
];

const SENTENCE =
  'A newer release has migrated the database, and this server may only read. Send writes to a server of that release.';

const announcing = (url: string, format: number): string =>
  `${url}?options=${encodeURIComponent(`-c svc.row_format=${format}`)}`;

describe('a server that is older than its database', () => {
  let database: ClonedDatabase;
  let older: TestApp;
  let newer: TestApp;
  let client: Client;

  beforeAll(async () => {
    database = await cloneDatabase('started');
    older = await startTestApp({ databaseUrl: database.url });
    newer = await startTestApp({ databaseUrl: announcing(database.url, ROW_FORMAT + 1) });
    client = new Client({ connectionString: database.url });
    await client.connect();
    expect((await older.put('/Basic/known', { code: { text: 'known' } })).status).toBe(201);
  });
  afterAll(async () => {
    await client.end();
    await newer.close();
    await older.close();
    await database.drop();
  });

  const stored = async (): Promise<string[]> =>
    (await client.query<{ id: string }>(`select id from resource where type = 'Basic' order by id`)).rows.map(
      ({ id }) => id,
    );

  it('H1: of release 0.1.0 gets an error for each write that it returns as 503', async () => {
    const old = new Client({ connectionString: database.url, application_name: 'svc-health-server' });
    await old.connect();
    try {
      for (const text of WRITES_OF_0_1_0) {
        await expect(old.query(text)).rejects.toMatchObject({ code: '55P03', constraint: 'row_format' });
      }
      expect((await old.query(`select version from resource where id = 'known'`)).rows).toEqual([{ version: 1 }]);
      // Other programs, such as psql, may send the same statements: only older servers are refused.
      await client.query('begin');
      for (const text of WRITES_OF_0_1_0) await client.query(text);
      await client.query('rollback');
    } finally {
      await old.end();
    }
    expect(await stored()).toEqual(['known']);
  });

  it('H1: loses no acknowledged write when a newer server refuses its rows, and returns a remedy', async () => {
    const acknowledged: string[] = [];
    const refused: { status: number; text: string; retryAfter: string | null }[] = [];
    let isOver = false;
    const write = async (app: TestApp, name: string): Promise<void> => {
      for (let n = 0; !isOver; n++) {
        const id = `${name}-${n}`;
        const { status, text, headers } = await app.put(`/Basic/${id}`, { code: { text: id } });
        if (status === 201) acknowledged.push(id);
        else refused.push({ status, text, retryAfter: headers.get('retry-after') });
        if (refused.length > 30) isOver = true;
      }
    };
    const writers = [older, older, older, newer].map((app, n) =>
      write(app, `${app === older ? 'older' : 'newer'}${n}`),
    );
    const isOlder = (id: string): boolean => id.startsWith('older');
    await eventually('the older one has written', () => acknowledged.some(isOlder));
    await client.query('begin');
    for (const text of refuseFormatsBelow(ROW_FORMAT + 1)) await client.query(text);
    const before = await stored();
    await client.query('commit');
    await Promise.all(writers);
    expect((await stored()).filter((id) => id !== 'known')).toEqual(acknowledged.sort());
    // The older server commits nothing after the migration.
    expect(acknowledged.filter((id) => isOlder(id) && !before.includes(id))).toEqual([]);
    for (const { status, text, retryAfter } of refused) {
      expect([status, retryAfter]).toEqual([503, '60']);
      expect(text).toContain(SENTENCE);
    }
    expect((await older.get('/Basic/known')).status).toBe(200);
    expect((await older.delete('/Basic/known')).status).toBe(503);
    expect((await newer.put('/Basic/known', { code: { text: 'new' } })).status).toBe(200);
  });

  it('O13: refuses connection options that would replace the settings of its session', async () => {
    await expect(migrate(`${database.url}?options=-c%20work_mem%3D8MB`)).rejects.toMatchObject({
      name: 'StartError',
      message: expect.stringContaining('remove "options" from DATABASE_URL'),
    });
  });
});
