import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client } from 'pg';
import {
  FIND_UNLINKED,
  LATEST_SNAPSHOTS,
  READ_ENTRIES,
  READ_LINKS,
} from '../../../src/addendum/chain/addendum-statements';
import { type Statement } from '../../../src/platform/database/statement';
import { PlanDatabase, type PlanNode } from '../../support/plan-database';

const TARGET = ['SDCDocument', 'd-7'];
const TARGET_HASH = 7;
/** The number of addenda of each of the ten targets. */
const ADDENDA = 300;
/** The number of addenda that one statement reads. */
const PAGE = 200;

const READS: readonly (readonly [name: string, statement: Statement, values: readonly unknown[]])[] = [
  ['a page of addenda', READ_ENTRIES, [...TARGET, 50, 2_147_483_647, 512 * 1024, 'SDCAddendum']],
  ['a page of links', READ_LINKS, [...TARGET, 50, PAGE, 'SDCAddendum']],
  ['the search for addenda without a link', FIND_UNLINKED, [TARGET_HASH, ...TARGET]],
  ['the latest snapshots', LATEST_SNAPSHOTS, TARGET],
];

/** A connection caches query plans. A plan made before the first addendum must stay fast for all later addenda. */
describe.each([
  ['was analyzed before it had addenda', 'before'],
  ['was analyzed when it had one', 'first'],
  ['was analyzed with all of them', 'after'],
])('the plans of a database that %s', (_state, analyzed) => {
  let database: PlanDatabase;

  beforeAll(async () => {
    database = await PlanDatabase.open();
    const { client } = database;
    for (const table of ['resource', 'reference_link', 'addendum_entry'])
      await client.query(`alter table ${table} set (autovacuum_enabled = off)`);
    await fill(client, 'Basic', 20_000);
    if (analyzed === 'before') await client.query('analyze');
    await fill(client, 'SDCAddendum', 1);
    if (analyzed === 'first') await client.query('analyze');
    await fill(client, 'SDCAddendum', 10 * ADDENDA, 2);
    if (analyzed === 'after') await client.query('analyze');
  }, 60_000);
  afterAll(() => database.close());

  it.each(READS)('read only the addenda of the target: %s', async (_name, statement, values) => {
    const plan = await database.measuredPlanOf({ statement, values });
    expect(mostRowsRead(plan)).toBeLessThanOrEqual(ADDENDA);
  });
});

/** The maximum rows that one node of a plan reads, including rows that a filter removed. */
function mostRowsRead({ Plans = [], ...node }: PlanNode): number {
  const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Join Filter'] ?? 0);
  return Math.max((node['Actual Rows'] + removed) * node['Actual Loops'], ...Plans.map(mostRowsRead));
}

/**
 * Stores resources of a type, numbered from `first` to `last`. Addenda are also linked to targets: addendum n belongs
 * to the target `d-` plus the last digit of n.
 */
async function fill(client: Client, type: string, last: number, first = 1): Promise<void> {
  const range = [first, last, type];
  await client.query(
    `insert into resource (resource_key, main_date, updated_at, reference_hash, version, type, id, method, body)
       select hashtextextended($3, 0) / 2 + n, now(), now(), n, 1, $3, 'a' || n, 'POST', repeat('x', 400)
       from generate_series($1::integer, $2::integer) n`,
    range,
  );
  await client.query(
    `insert into reference_link (target_hash, main_date, resource_key, parameter_id)
       select n % 10, now(), hashtextextended($3, 0) / 2 + n, 1 from generate_series($1::integer, $2::integer) n
       where $3 = 'SDCAddendum'`,
    range,
  );
  await client.query(
    `insert into addendum_entry (sequence, target_type, target_id, addendum_id, text_hash, link_hash)
       select 1 + n / 10, 'SDCDocument', 'd-' || n % 10, 'a' || n, 'x', 'x' from generate_series($1::integer, $2::integer) n
       where $3 = 'SDCAddendum'`,
    range,
  );
}
