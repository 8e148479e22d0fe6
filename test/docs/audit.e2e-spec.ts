import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client } from 'pg';
import { type Bundle } from '../support/bundle';
import { startTestApp, type TestApp } from '../../testing/test-app';
import { sectionOf } from './documents';

describe('the statement of docs/reference/audit.md that deletes old records', () => {
  let app: TestApp;
  let database: Client;
  beforeAll(async () => {
    app = await startTestApp({ environment: { SVC_AUDIT: 'all' } });
    database = await app.connect();
  });
  afterAll(() => app.close());

  /** How many rows each table has of resources that are not stored. */
  const strayRows = async (): Promise<Record<string, number>> => {
    const { rows } = await database.query<{ name: string }>(
      `select table_name as name from information_schema.columns
        where table_schema = 'public' and column_name = 'resource_key' and table_name <> 'resource' order by 1`,
    );
    const counts: Record<string, number> = {};
    for (const { name } of rows) {
      const counted = await database.query<{ stray: number }>(
        `select count(*)::integer as stray from ${name} where resource_key not in (select resource_key from resource)`,
      );
      counts[name] = counted.rows[0]?.stray ?? 0;
    }
    return counts;
  };

  it('deletes old records with all of their rows, and nothing else', async () => {
    await app.put('/fhir/Patient/seen', { name: [{ family: 'Old' }] });
    for (let n = 0; n < 3; n++) await app.get('/fhir/Patient/seen');
    await database.query(`update resource set updated_at = now() - interval '11 years' where type = 'AuditEvent'`);
    await app.get('/fhir/Patient/seen');
    const [, sql = ''] =
      /```sql\n([\s\S]*?)```/.exec(sectionOf('docs/reference/audit.md', 'Deleting old records')) ?? [];
    await database.query(sql);
    const strays = await strayRows();
    expect(Object.keys(strays).length).toBeGreaterThan(4);
    expect(strays).toEqual(Object.fromEntries(Object.keys(strays).map((name) => [name, 0])));
    const left = (await app.get('/fhir/AuditEvent?patient=seen')).json<Bundle>();
    expect(left.total).toBe(1);
    expect((await app.get('/fhir/Patient/seen')).status).toBe(200);
  });
});
