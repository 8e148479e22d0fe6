import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client } from 'pg';
import { keySearchIndexRows } from '../../../src/platform/database/migrations/1795000000200-key-search-index-rows';
import { startTestApp, type TestApp } from '../../../testing/test-app';

const TABLES = ['search_token', 'reference_link', 'search_date', 'search_number', 'search_string'];

/** The SQL that inserts a row into each index table: rows that no current code would write. */
const STRANGE_ROWS = [
  'insert into search_token (token_hash, main_date, resource_key, patient_hash, system_hash) values (7, now(), $1, 7, 7)',
  'insert into reference_link (target_hash, main_date, resource_key, parameter_id) values (7, now(), $1, 7)',
  'insert into search_date (low, high, main_date, resource_key, parameter_id) values (now(), now(), now(), $1, 7)',
  'insert into search_number (code_hash, value, main_date, resource_key, parameter_id, unit_hash) values (7, 7, now(), $1, 7, 7)',
  `insert into search_string (main_date, resource_key, parameter_id, value_hash, value) values (now(), $1, 7, 7, 'strange')`,
];

const names = (count: number, of: string): object[] =>
  Array.from({ length: count }, (_one, n) => ({ family: `${of} ${n}`, given: [`Given ${of} ${n}`] }));

const observation = (value: number, members: object = {}): object => ({
  resourceType: 'Observation',
  status: 'final',
  code: { coding: [{ system: 'http://loinc.org', code: '29463-7' }], text: 'Body weight' },
  subject: { reference: 'Patient/one' },
  effectiveDateTime: '2026-01-01',
  valueQuantity: { value, unit: 'kg', system: 'http://unitsofmeasure.org', code: 'kg' },
  ...members,
});

const patient = (family: string, members: object = {}): object => ({
  resourceType: 'Patient',
  name: [{ family, given: ['Ada'] }],
  birthDate: '1990-01-01',
  managingOrganization: { reference: 'Organization/o' },
  ...members,
});

type Rows = Readonly<Record<string, readonly object[]>>;

describe('search index rows', () => {
  let app: TestApp;
  let client: Client;

  beforeAll(async () => {
    app = await startTestApp();
    client = await app.connect();
  });
  afterAll(() => app.close());

  const keyOf = async (type: string, id: string): Promise<string> => {
    const { rows } = await client.query<{ resource_key: string }>(
      'select resource_key from resource where type = $1 and id = $2',
      [type, id],
    );
    return rows[0]?.resource_key ?? '';
  };

  const rowsOf = async (key: string, columns = `to_jsonb(s) - 'resource_key'`): Promise<Rows> => {
    const found: Record<string, readonly object[]> = {};
    for (const table of TABLES) {
      const { rows } = await client.query<object>(
        `select ${columns} as row from ${table} s where resource_key = $1 order by 1`,
        [key],
      );
      found[table] = rows;
    }
    return found;
  };

  const countOf = (rows: Rows): number => TABLES.reduce((sum, table) => sum + (rows[table]?.length ?? 0), 0);

  const estrange = async (key: string): Promise<void> => {
    for (const statement of STRANGE_ROWS) await client.query(statement, [key]);
  };

  const answered = async (answer: Promise<{ readonly status: number }>): Promise<number> => (await answer).status;

  describe.each([
    ['Patient', patient('First'), patient('Second', { gender: 'female', birthDate: '1991-01-01' })],
    ['Observation', observation(1), observation(2, { status: 'amended', subject: { reference: 'Patient/two' } })],
    ['Observation', observation(1), observation(1, { effectiveDateTime: '2026-02-02' })],
  ])('of a %s', (type, first, second) => {
    const path = `/fhir/${type}/healed`;

    it('S20: match the body after any update, even if another server version wrote the old rows', async () => {
      await app.put(path, first);
      const key = await keyOf(type, 'healed');
      const ofFirst = await rowsOf(key);
      await app.put(path, second);
      const ofSecond = await rowsOf(key);
      expect(ofSecond).not.toEqual(ofFirst);
      await app.put(path, first);
      expect(await rowsOf(key)).toEqual(ofFirst);
      // Changes the rows, as if an older server without digests, with other parameters, had written them.
      await estrange(key);
      await client.query('update resource set index_digests = null where resource_key = $1', [key]);
      await app.put(path, second);
      expect(await rowsOf(key)).toEqual(ofSecond);
      // Changes rows and version, as if an older server without digests had written a version in between.
      await estrange(key);
      await client.query('update resource set version = version + 1 where resource_key = $1', [key]);
      await app.put(path, first);
      expect(await rowsOf(key)).toEqual(ofFirst);
    });

    it('S20: are all removed with it, even if another server version wrote them', async () => {
      await app.put(path, first);
      const key = await keyOf(type, 'healed');
      await estrange(key);
      expect(await answered(app.delete(path))).toBe(200);
      expect(countOf(await rowsOf(key))).toBe(0);
    });
  });

  it('S20: stay untouched if an update does not change them', async () => {
    await app.put('/fhir/Observation/still', observation(1));
    const key = await keyOf('Observation', 'still');
    const before = await rowsOf(key, `to_jsonb(s.xmin::text)`);
    await app.put('/fhir/Observation/still', observation(2));
    const after = await rowsOf(key, `to_jsonb(s.xmin::text)`);
    expect(after.search_number).not.toEqual(before.search_number);
    for (const table of TABLES.filter((one) => one !== 'search_number')) expect(after[table]).toEqual(before[table]);
  });

  it('S12: replace 3,000 names by 3,000 others in linear time', async () => {
    await app.put('/fhir/Patient/names', patient('x', { name: names(3_000, 'old') }));
    const key = await keyOf('Patient', 'names');
    const before = performance.now();
    expect(await answered(app.put('/fhir/Patient/names', patient('x', { name: names(3_000, 'new') })))).toBe(200);
    expect(performance.now() - before).toBeLessThan(5_000); // measured: under 300 ms on a quiet machine
    const { rows } = await client.query('select from search_string where resource_key = $1 and value like $2', [
      key,
      'old%',
    ]);
    expect(rows).toHaveLength(0);
  });

  it.each([4_000, 16_000])('S20: are deleted fast for a Patient with %i names', async (count) => {
    await app.put('/fhir/Patient/many', patient('x', { name: names(count, 'many') }));
    const key = await keyOf('Patient', 'many');
    const before = performance.now();
    expect(await answered(app.delete('/fhir/Patient/many'))).toBe(200);
    expect(performance.now() - before).toBeLessThan(5_000); // measured: under 1,000 ms on a quiet machine
    expect(countOf(await rowsOf(key))).toBe(0);
  });

  it('S20: replace 20,000 references, and move them to another date, in linear time', async () => {
    const list = (of: string, date: string): object => ({
      ...{ resourceType: 'List', status: 'current', mode: 'working', date },
      entry: Array.from({ length: 20_000 }, (_one, n) => ({ item: { reference: `Basic/${of}${n}` } })),
    });
    await app.put('/fhir/List/long', list('a', '2026-01-01'));
    const key = await keyOf('List', 'long');
    for (const next of [list('b', '2026-01-01'), list('b', '2026-02-02')]) {
      const before = performance.now();
      expect(await answered(app.put('/fhir/List/long', next))).toBe(200);
      expect(performance.now() - before).toBeLessThan(10_000); // measured: under 2,000 ms on a quiet machine
      const { rows } = await client.query(
        `select count(*)::int as count, count(*) filter (where s.main_date <> r.main_date)::int as misplaced
         from reference_link s join resource r using (resource_key) where resource_key = $1`,
        [key],
      );
      expect(rows).toEqual([{ count: 20_000, misplaced: 0 }]);
    }
  });

  it('O12: can be replicated by a publication of all tables, since each has a key', async () => {
    const { rows } = await client.query(
      `select relname from pg_class where relkind = 'r' and relpersistence = 'p' and relnamespace = 'public'::regnamespace
         and relreplident = 'd' and not exists (select from pg_index where indrelid = pg_class.oid and indisprimary)
         and relname !~ '^delivery_attempt_[0-9]{8}$'`, // expired partitions are dropped as a whole
    );
    expect(rows).toEqual([]);
    await client.query('create publication everything for all tables');
    try {
      const statuses = [
        await answered(app.put('/fhir/Observation/published', observation(1))),
        await answered(app.put('/fhir/Observation/published', observation(2, { effectiveDateTime: '2025-01-01' }))),
        await answered(app.delete('/fhir/Observation/published')),
      ];
      expect(statuses).toEqual([201, 200, 200]);
    } finally {
      await client.query('drop publication everything');
    }
  });
});

describe('S20: a database of version 0.1.0 with data', () => {
  /** The SQL that undoes the migration: it removes the digests and the primary keys. */
  const AS_IN_0_1_0 = `
    alter table resource drop column index_digests;
    ${TABLES.map((table) => `alter table ${table} drop constraint ${table}_pk;`).join('')}
    alter table search_string drop column value_hash;
    create index reference_link_source_idx on reference_link (resource_key, parameter_id) include (target_hash);
    create index search_date_resource_idx on search_date (resource_key, parameter_id) include (low, high);
    create index search_string_resource_idx on search_string (resource_key, parameter_id) include (beginning)`;
  const migrate = async (): Promise<void> => {
    for (const statement of keySearchIndexRows.statements) await client.query(statement);
  };
  let app: TestApp;
  let client: Client;
  let key: string;

  beforeAll(async () => {
    app = await startTestApp();
    client = await app.connect();
    await app.put('/fhir/Patient/kept', patient('Kept'));
    await app.put('/fhir/Observation/kept', observation(1));
    const found = await client.query<{ resource_key: string }>(
      `select resource_key from resource where type = 'Patient' and id = 'kept'`,
    );
    key = found.rows[0]?.resource_key ?? '';
    await client.query(AS_IN_0_1_0);
  });
  afterAll(() => app.close());

  const countOf = async (table: string): Promise<number> => {
    const { rows } = await client.query<{ count: number }>(
      `select count(*)::int as count from ${table} where resource_key = $1`,
      [key],
    );
    return rows[0]?.count ?? 0;
  };

  it('is migrated from where an earlier start was interrupted, and duplicate rows are removed', async () => {
    for (const table of TABLES) {
      const { rows } = await client.query<{ names: string }>(
        `select string_agg(column_name, ', ') as names from information_schema.columns
         where table_name = $1 and is_generated = 'NEVER'`,
        [table],
      );
      const columns = rows[0]?.names ?? '';
      await client.query(`insert into ${table} (${columns}) select ${columns} from ${table}`);
    }
    const double = await countOf('search_string');
    await client.query('alter table search_number rename column unit_hash to other_hash');
    await expect(migrate()).rejects.toThrow('unit_hash');
    await client.query('alter table search_number rename column other_hash to unit_hash');
    await migrate();
    expect(await countOf('search_string')).toBe(double / 2);
    const { rows } = await client.query(
      `select count(*)::int as keys from pg_constraint where contype = 'p' and conname = any($1)`,
      [TABLES.map((table) => `${table}_pk`)],
    );
    expect(rows).toEqual([{ keys: TABLES.length }]);
  });

  it('loses rows that do not match the body at the next write', async () => {
    const again = await startTestApp({ databaseUrl: app.databaseUrl });
    try {
      const found = (await again.get('/fhir/Patient?name=kept')).json<{ total: number }>();
      expect(found.total).toBe(1);
      for (const statement of STRANGE_ROWS) await client.query(statement, [key]);
      await again.put('/fhir/Patient/kept', patient('Other', { birthDate: undefined }));
      expect((await again.get('/fhir/Patient?name=kept')).json<{ total: number }>().total).toBe(0);
      expect((await again.get('/fhir/Patient?birthdate=1990-01-01&_id=kept')).json<{ total: number }>().total).toBe(0);
      expect(await countOf('search_date')).toBe(0);
      await again.delete('/fhir/Patient/kept');
      for (const table of TABLES) expect([table, await countOf(table)]).toEqual([table, 0]);
    } finally {
      await again.close();
    }
  });
});
