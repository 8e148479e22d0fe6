import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { compilePage, compileTotal } from '../../src/resource/search/compile-search';
import { type CompiledSearch } from '../../src/resource/search/compile/binder';
import { type SearchClause, type SearchQuery } from '../../src/resource/search/search-query';
import { sessionSettings } from '../../src/platform/database/data-source-options';
import { type ClonedDatabase, cloneDatabase } from '../support/clone-database';

const ROWS = 20_000;

const token = (...hashes: number[]): SearchClause => ({ kind: 'token', tokens: hashes.map((hash) => ({ hash })) });
const reference = (...targets: number[]): SearchClause => ({
  kind: 'reference',
  links: targets.map((targetHash) => ({ targetHash, parameterId: 7 })),
});
const ids: SearchClause = { kind: 'id', ids: ['r1', 'r2'] };
const updated: SearchClause = { kind: 'updated', ranges: [{ low: Date.parse('2020-01-02'), high: Infinity }] };

/** Every shape of statement that the compiler makes, and what must answer it. */
const SHAPES: readonly (readonly [name: string, clauses: readonly SearchClause[]])[] = [
  ['no clause', []],
  ['one token', [token(1)]],
  ['one of several tokens', [token(1, 2, 3)]],
  ['token and token', [token(1), token(2)]],
  ['one reference', [reference(11)]],
  ['one of several references', [reference(11, 12)]],
  ['reference and token', [reference(11), token(1)]],
  ['reference and reference', [reference(11), reference(12)]],
  ['ids', [ids]],
  ['ids and token', [ids, token(1)]],
  ['time of update', [updated]],
  ['token and time of update', [token(1), updated]],
];

describe.each([
  ['full tables with statistics', true],
  // A plan that a connection made then is kept until statistics are next gathered.
  ['empty tables that nobody analyzed', false],
])('the plans of a search on %s', (_state, isFull) => {
  let database: ClonedDatabase;
  let client: Client;

  beforeAll(async () => {
    database = await cloneDatabase();
    client = new Client({ connectionString: database.url, options: sessionSettings(60) });
    await client.connect();
    if (isFull) await fill(client);
  }, 60_000);
  afterAll(async () => {
    await client.end();
    await database.drop();
  });
  const planOf = async ({ statement, values }: CompiledSearch): Promise<string> => {
    await client.query('deallocate all');
    const types = [...statement.text.matchAll(/\$(\d+)/g)].map(([, place]) => Number(place));
    await client.query(`prepare shape as ${statement.text}`);
    const literals = values.slice(0, Math.max(...types)).map((value) => literalOf(value));
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(
      `explain (costs off) execute shape (${literals.join(', ')})`,
    );
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  };

  describe.each(SHAPES)('by %s', (_name, clauses) => {
    const query: SearchQuery = { type: 'Observation', clauses, count: 20 };

    it('reads a page by indexes in nested loops, never a whole table', async () => {
      for (const shape of [
        query,
        { ...query, position: { side: 'after', values: [Date.parse('2020-01-05')], key: 5_000 } as const },
      ]) {
        const plan = await planOf(compilePage(shape));
        expect(plan).not.toMatch(/Seq Scan/);
        expect(plan).not.toMatch(/Hash (Semi |Anti )?Join/);
        expect(plan).not.toMatch(/Merge Join/);
      }
    });

    it('counts by indexes', async () => {
      expect(await planOf(compileTotal(query))).not.toMatch(/Seq Scan on (search_token|reference_link)/);
    });
  });

  it('has one statement for one shape, whatever its values', () => {
    const [one, other] = [[token(1)], [token(2)]].map((clauses) =>
      compilePage({ type: 'Patient', clauses, count: 20 }),
    );
    expect(one?.statement).toEqual(other?.statement);
    expect(one?.values).not.toEqual(other?.values);
  });
});

async function fill(client: Client): Promise<void> {
  await client.query(
    `insert into resource (resource_key, main_date, updated_at, reference_hash, version, type, id, method, body)
       select n, timestamptz '2020-01-01' + n * interval '1 minute', timestamptz '2020-01-01' + n * interval '1 second', n, 1, 'Observation', 'r' || n, 'PUT', repeat('x', 500)
       from generate_series(1, ${ROWS}) n`,
  );
  await client.query(
    `insert into search_token (token_hash, main_date, resource_key, patient_hash, system_hash)
       select (resource_key + k) % 40, main_date, resource_key, 0, 5 from resource, generate_series(0, 2) k`,
  );
  await client.query(
    `insert into reference_link (target_hash, main_date, resource_key, parameter_id)
       select resource_key % 200, main_date, resource_key, 7 from resource`,
  );
  await client.query('analyze');
}

function literalOf(value: unknown): string {
  if (Array.isArray(value)) return `'{${value.map((item) => (item === null ? 'null' : String(item))).join(',')}}'`;
  if (value instanceof Date) return `'${value.toISOString()}'`;
  return `'${String(value)}'`;
}
