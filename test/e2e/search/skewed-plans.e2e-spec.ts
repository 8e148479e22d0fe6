import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client } from 'pg';
import { compilePage, compilePlaces, compileTotal } from '../../../src/search/compile/compile-search';
import { type Frequencies } from '../../../src/search/compile/estimate';
import { type SearchClause, type SearchQuery, type SortKey } from '../../../src/search/query/search-query';
import { type BoundStatement } from '../../../src/store/binder';
import { PlanDatabase } from '../../support/plan-database';

const PATIENTS = 20_000;
const OBSERVATIONS = 120_000;
/** The Observations of patient 1, which were updated before those of all others. */
const OF_LARGE = 6_000;
/** The Observations with a large number. */
const FEW = 78;

/** The Devices. One of a thousand Observations names one of them. */
const DEVICES = 100;

const [SUBJECT, VALUE, DEVICE, FREQUENT, RARE_UNIT] = [7, 6, 11, 1, 5];

const COUNTS: Readonly<Record<string, number>> = {
  'resource Patient': PATIENTS,
  'resource Observation': OBSERVATIONS,
  'resource Device': DEVICES,
  'search_number 0': OBSERVATIONS,
  'reference_link 1': OF_LARGE,
  'search_token 1': OBSERVATIONS * 0.9,
};
const frequencies: Frequencies = { of: (table, value) => COUNTS[`${table} ${value}`] };

const token = (hash: number): SearchClause => ({ kind: 'token', tokens: [{ hash }] });
const patient = (hash: number): SearchClause => ({
  kind: 'reference',
  links: [{ targetHash: hash, parameterId: SUBJECT }],
  patientHash: hash,
});
const FIRST = '2021-01-01';
const number = (low: number, unitHash?: number): SearchClause => ({
  kind: 'number',
  parameterIds: [VALUE],
  codeHash: 0,
  ranges: [{ low, high: Infinity, isLowOpen: true, isHighOpen: true, ...(unitHash === undefined ? {} : { unitHash }) }],
});
const has = (clause: SearchClause, parameterId = SUBJECT): SearchClause => ({
  kind: 'has',
  parameterIds: [parameterId],
  type: 'Observation',
  clause,
  isByPatient: parameterId === SUBJECT,
});
const updated = (low: string, high?: string): SearchClause => ({
  kind: 'updated',
  boxes: [{ lowFrom: Date.parse(low), ...(high === undefined ? {} : { highTo: Date.parse(high) }) }],
});
const ofDevice = (clause: SearchClause): SearchClause => has(clause, DEVICE);
/** The same matches, found by a test of each resource of the type. */
const tested = (clause: SearchClause): SearchClause => ({ kind: 'not', clause: { kind: 'not', clause } });

type Search = Pick<SearchQuery, 'type' | 'clauses' | 'sort' | 'position'> & { readonly count?: number };

describe('the pages that a search of skewed data reads', () => {
  let database: PlanDatabase;

  beforeAll(async () => {
    database = await PlanDatabase.open();
    await fill(database.client);
  }, 120_000);
  afterAll(() => database.close());

  const run = async <Row extends object>({ statement: { text }, values }: BoundStatement): Promise<Row[]> =>
    (await database.client.query<Row>(text, [...values])).rows;
  const rowsOf = (search: Search): Promise<Row[]> => run<Row>(compilePage({ count: 20, ...search }, frequencies));
  const keysOf = async (search: Search): Promise<number[]> => (await rowsOf(search)).map(keyOf);
  const totalOf = async (search: Search): Promise<number> =>
    Number((await run<{ total: string }>(compileTotal(search, frequencies)))[0]?.total);
  const pagesOf = async (bound: BoundStatement): Promise<number> => {
    const plan = await database.measuredPlanOf(bound);
    return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
  };
  const pagesOfPage = (search: Search): Promise<number> => pagesOf(compilePage({ count: 20, ...search }, frequencies));
  const pagesOfTotal = (search: Search): Promise<number> => pagesOf(compileTotal(search, frequencies));

  const expectMatchesOf = async (type: string, clause: SearchClause): Promise<void> => {
    const [search, each] = [clause, tested(clause)].map((one) => ({ type, clauses: [one], count: 300 }));
    if (search === undefined || each === undefined) throw new Error('no search');
    expect(await keysOf(search)).toEqual(await keysOf(each));
    expect(await totalOf(search)).toBe(await totalOf(each));
  };

  describe('by _has and a number', () => {
    const few = has(number(1_000));
    const ofRareUnit = has(number(1_000, RARE_UNIT));
    const many = has(number(5));
    const searches = [few, ofRareUnit, many, has(number(5, RARE_UNIT)), has(number(2_000))];

    it.each([
      ['few have', few],
      ['few of a unit have', ofRareUnit],
      ['nobody has', has(number(2_000))],
    ])('grows with the matches, if %s such a number', async (_few, clause) => {
      expect(await pagesOfPage({ type: 'Patient', clauses: [clause] })).toBeLessThan(FEW * 40);
      expect(await pagesOfTotal({ type: 'Patient', clauses: [clause] })).toBeLessThan(FEW * 40);
    });

    it('stays small, if many have such a number', async () => {
      expect(await pagesOfPage({ type: 'Patient', clauses: [many] })).toBeLessThan(20_000);
    });

    it.each([
      ['many', many],
      ['of a unit', has(number(5, RARE_UNIT))],
    ])('is at most twice that of a test of each patient for the total: %s', async (_many, clause) => {
      const each = await pagesOfTotal({ type: 'Patient', clauses: [tested(clause)] });
      expect(await pagesOfTotal({ type: 'Patient', clauses: [clause] })).toBeLessThan(2 * each);
    });

    it('stays small, if few of the resources with the number have the link', async () => {
      for (const clause of [ofDevice(number(5)), ofDevice(updated(FIRST))]) {
        expect(await pagesOfPage({ type: 'Device', clauses: [clause] })).toBeLessThan(5_000);
        expect(await pagesOfTotal({ type: 'Device', clauses: [clause] })).toBeLessThan(2_000);
      }
    });

    it('leads to the matches that a test of each patient finds', async () => {
      for (const clause of searches) await expectMatchesOf('Patient', clause);
      for (const clause of [number(5), number(1_000), updated(FIRST)])
        await expectMatchesOf('Device', ofDevice(clause));
    });
  });

  describe('by a time of update', () => {
    const all = updated(FIRST);
    const minute = updated('2021-01-02T00:00Z', '2021-01-02T00:01Z');
    const either: SearchClause = { kind: 'any', clauses: [all, token(99)] };
    const frequentOnes = has({ kind: 'all', clauses: [all, token(FREQUENT)] });

    it('stays small for the total, if all resources are of the time', async () => {
      expect(await pagesOfTotal({ type: 'Observation', clauses: [all] })).toBeLessThan(1_500);
    });

    it.each([
      ['of resources that refer to them', [has(all)]],
      ['of resources to which two such conditions lead', [has(all), has(minute)]],
    ])('is about twice that of a test of each patient at most, for the total %s', async (_of, clauses) => {
      const each = await pagesOfTotal({ type: 'Patient', clauses: clauses.map(tested) });
      expect(await pagesOfTotal({ type: 'Patient', clauses })).toBeLessThan(2.2 * each);
    });

    it('grows with the updates, if a link leads to few of them', async () => {
      expect(await pagesOfPage({ type: 'Patient', clauses: [has(minute)] })).toBeLessThan(500);
      expect(await pagesOfTotal({ type: 'Patient', clauses: [has(minute)] })).toBeLessThan(500);
    });

    it('does not grow with the updates of others, if another condition may match instead', async () => {
      const each = await pagesOfTotal({ type: 'Observation', clauses: [tested(either), patient(1)] });
      expect(await pagesOfTotal({ type: 'Observation', clauses: [either, patient(1)] })).toBeLessThan(2 * each);
    });

    it('stays small for the page of resources that refer to frequent ones of the time', async () => {
      expect(await pagesOfPage({ type: 'Patient', clauses: [frequentOnes] })).toBeLessThan(500);
    });

    it('leads to the matches that a test of each resource finds', async () => {
      for (const clause of [has(all), has(minute), frequentOnes]) await expectMatchesOf('Patient', clause);
      for (const clause of [all, minute, either]) await expectMatchesOf('Observation', clause);
    });
  });

  describe('in the order of updates', () => {
    const latest: SortKey = { by: { kind: 'updated' }, isDescending: true };
    const orders: readonly SortKey[][] = [
      [latest],
      [latest, { by: { kind: 'number', parameterIds: [VALUE] }, isDescending: false }],
    ];

    it.each([
      ['alone', orders[0]],
      ['and a number', orders[1]],
    ])('does not grow with later updates of others, if those of the matches are far back: %s', async (_by, sort) => {
      const search = { type: 'Observation', clauses: [patient(1)], ...(sort && { sort }) };
      const plan = await database.planOf(compilePlaces({ ...search, count: 20 }, frequencies));
      expect(plan).not.toMatch(/Seq Scan|Hash (Semi |Anti |Left )?Join|Merge (Semi |Anti |Left )?Join/);
      expect(await pagesOfPage(search)).toBeLessThan(OF_LARGE * 16);
    });

    it('stays small, if the latest updates match', async () => {
      const search = { type: 'Observation', clauses: [token(FREQUENT)], sort: [latest] };
      expect(await pagesOfPage(search)).toBeLessThan(500);
    });

    it('stays small up to a time, if the updates before it match', async () => {
      const before: SearchClause = { kind: 'updated', boxes: [{ highTo: Date.parse('2021-01-01T04:00Z') }] };
      const search = { type: 'Observation', clauses: [patient(1), before], sort: [latest] };
      expect(await pagesOfPage(search)).toBeLessThan(500);
    });

    it.each([
      ['alone', orders[0] ?? []],
      ['and a number', orders[1] ?? []],
    ])('has all matches in order, on pages in both directions: %s', async (_by, sort) => {
      const search = { type: 'Observation', clauses: [patient(1)], sort };
      const all = await rowsOf({ ...search, clauses: [tested(patient(1))], count: 1_000 });
      const keys = all.map(keyOf);
      expect((await keysOf(search)).slice(0, 20)).toEqual(keys.slice(0, 20));
      for (const at of [19, 500]) {
        const row = all[at];
        if (row === undefined) throw new Error('no row');
        const values = sort.map((_key, index) => positionValueOf(row[`s${index}`]));
        const pageOn = (side: 'after' | 'before'): Promise<number[]> =>
          keysOf({ ...search, position: { side, key: keyOf(row), values } });
        expect(await pageOn('after')).toEqual(keys.slice(at + 1, at + 22));
        expect((await pageOn('before')).toReversed()).toEqual(keys.slice(Math.max(at - 21, 0), at));
      }
    });
  });
});

interface Row {
  readonly resource_key: string;
  readonly [column: string]: unknown;
}

const keyOf = (row: Row): number => Number(row.resource_key);

function positionValueOf(value: unknown): string | number | null {
  if (value instanceof Date) return value.getTime();
  return typeof value === 'string' || typeof value === 'number' ? value : null;
}

async function fill(client: Client): Promise<void> {
  const patientOf = `case when n <= ${OF_LARGE} then 1 else 2 + n % (${PATIENTS} - 1) end`;
  for (const statement of [
    'truncate resource, search_token, reference_link, search_date, search_number, search_string',
    `insert into resource (resource_key, main_date, updated_at, reference_hash, version, type, id, method, body)
       select 1000000 + n, timestamptz '2019-01-01' + n * interval '1 minute', timestamptz '2019-01-01' + n * interval '1 minute', n, 1, 'Patient', 'p' || n, 'PUT', '{}'
       from generate_series(1, ${PATIENTS}) n`,
    `insert into resource (resource_key, main_date, updated_at, reference_hash, version, type, id, method, body)
       select 2000000 + n, timestamptz '2019-01-01' + n * interval '1 minute', timestamptz '2019-01-01' + n * interval '1 minute', 9000000 + n, 1, 'Device', 'd' || n, 'PUT', '{}'
       from generate_series(1, ${DEVICES}) n`,
    // Main dates do not follow the times of update.
    `insert into resource (resource_key, main_date, updated_at, reference_hash, version, type, id, method, body)
       select n, timestamptz '2020-01-01' + n * 7919 % ${OBSERVATIONS} * interval '1 minute', timestamptz '2021-01-01' + n / 20 * interval '1 minute', 2000000 + n, 1, 'Observation', 'o' || n, 'PUT', '{}'
       from generate_series(1, ${OBSERVATIONS}) n`,
    `insert into reference_link (target_hash, main_date, resource_key, parameter_id)
       select ${patientOf}, main_date, n, ${SUBJECT} from (select *, resource_key as n from resource where type = 'Observation') r`,
    `insert into reference_link (target_hash, main_date, resource_key, parameter_id)
       select 9000001 + resource_key / 1000 % ${DEVICES}, main_date, resource_key, ${DEVICE} from resource
       where type = 'Observation' and resource_key % 1000 = 0`,
    `insert into search_token (token_hash, main_date, resource_key, patient_hash, system_hash)
       select ${FREQUENT}, main_date, n, ${patientOf}, 5 from (select *, resource_key as n from resource where type = 'Observation') r where n % 10 > 0`,
    `insert into search_number (code_hash, value, main_date, resource_key, parameter_id, unit_hash)
       select 0, case when n > ${OF_LARGE} and n % 1447 = 0 then 1000 + n % 100 + 1 else n * 7919 % 1000 end, main_date, n, ${VALUE}, case when n % 10 = 0 then ${RARE_UNIT} else 4 end
       from (select *, resource_key as n from resource where type = 'Observation') r`,
    'vacuum analyze',
  ])
    await client.query(statement);
}
