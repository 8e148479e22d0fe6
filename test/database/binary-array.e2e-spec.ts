import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Client } from 'pg';
import { type ClonedDatabase, cloneDatabase } from '../../testing/test-databases';
import { type ArrayElementType, binaryArray } from '../../src/platform/database/binary-array';

describe(binaryArray, () => {
  let database: ClonedDatabase;
  let client: Client;
  beforeAll(async () => {
    database = await cloneDatabase();
    client = new Client({ connectionString: database.url });
    await client.connect();
  });
  afterAll(async () => {
    await client.end();
    await database.drop();
  });

  /** The value that PostgreSQL reads, as text. */
  async function received(type: ArrayElementType, values: readonly unknown[]): Promise<string[]> {
    const { rows } = await client.query<{ texts: string[] }>(
      `select coalesce(array_agg(case when '${type}' = 'timestamptz' then to_char(v::text::timestamptz at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') else v::text end order by n), '{}') as texts
       from unnest($1::${type}[]) with ordinality u(v, n)`,
      [binaryArray(type, values)],
    );
    return rows[0]?.texts ?? [];
  }

  it('transfers any text', async () => {
    const texts = fc.array(fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0')));
    await fc.assert(
      fc.asyncProperty(texts, async (values) => {
        expect(await received('text', values)).toEqual(values);
      }),
      { numRuns: 50 },
    );
  });

  it('transfers numbers up to their limits', async () => {
    const integers = [0, 1, -1, 2 ** 31 - 1, -(2 ** 31)];
    expect(await received('integer', integers)).toEqual(integers.map(String));
    const bigints = [
      0,
      -1,
      2 ** 32,
      -(2 ** 32) - 5,
      Number.MAX_SAFE_INTEGER,
      Number.MIN_SAFE_INTEGER,
      2n ** 63n - 1n,
      -(2n ** 63n),
    ];
    expect(await received('bigint', bigints)).toEqual(bigints.map(String));
    expect(await received('double precision', [0.1, -2.5e300])).toEqual(['0.1', '-2.5e+300']);
  });

  it('transfers timestamps of all FHIR years to the millisecond', async () => {
    const times = [
      '0001-01-01T00:00:00.000Z',
      '1799-12-31T23:59:59.001Z',
      '2000-01-01T00:00:00.000Z',
      '9999-12-31T23:59:59.999Z',
    ];
    expect(await received('timestamptz', times)).toEqual(times);
    expect(await received('timestamptz', times.map(Date.parse))).toEqual(times);
    expect(
      await received(
        'timestamptz',
        times.map((text) => new Date(text)),
      ),
    ).toEqual(times);
  });

  it.each<ArrayElementType>(['text', 'bigint'])('transfers an empty array of %s', async (type) => {
    expect(await received(type, [])).toEqual([]);
  });
});
