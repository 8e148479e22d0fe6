import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client } from 'pg';
import { compilePage, compilePlaces, compileTotal } from '../../../src/search/compile/compile-search';
import { type BoundStatement } from '../../../src/store/binder';
import {
  type DateBox,
  type NearClause,
  type SearchClause,
  type SearchQuery,
  type SortKey,
} from '../../../src/search/query/search-query';
import { RowLimit } from '../../../src/search/rows/row-limit';
import { boundWithin, BY_NAME, SOURCES, TARGETS } from '../../../src/search/include/include-statements';
import { STORED_TYPES } from '../../../src/search/types/types-search';
import { STATEMENT_TYPES } from '../../../src/platform/database/statement';
import { PlanDatabase, type PlanNode } from '../../support/plan-database';

const ROWS = 20_000;
const PATIENTS = 200;

/** Parameter ids of the rows below. */
const [NAME, PATIENT_NAME, DATE, OTHER_DATE, SUBJECT, VALUE, CODE_VALUE] = [3, 13, 4, 5, 7, 6, 8];
const POSITION = 14;
const CODE = 77;

const token = (...hashes: number[]): SearchClause => ({ kind: 'token', tokens: hashes.map((hash) => ({ hash })) });
const reference = (...targets: number[]): SearchClause => ({
  kind: 'reference',
  links: targets.map((targetHash) => ({ targetHash, parameterId: SUBJECT })),
});
const patient: SearchClause = {
  kind: 'reference',
  links: [{ targetHash: 11, parameterId: SUBJECT }],
  patientHash: 11,
};
const ids: SearchClause = { kind: 'id', ids: ['r1', 'r2'] };
const updatedFrom = (time: string): SearchClause => ({ kind: 'updated', boxes: [{ lowFrom: Date.parse(time) }] });
const updatedTo = (time: string): SearchClause => ({ kind: 'updated', boxes: [{ highTo: Date.parse(time) }] });
const updated = updatedFrom('2020-01-01T01:00:00Z');
const text = (match: 'prefix' | 'contains', of: string, parameterId = NAME): SearchClause => ({
  kind: 'string',
  parameterIds: [parameterId],
  match,
  texts: [of],
});
const date = (box: DateBox, isMainDate = true): SearchClause => ({
  kind: 'date',
  parameterIds: [isMainDate ? DATE : OTHER_DATE],
  boxes: [box],
  isSingle: true,
  isMainDate,
});
const from = date({ highFrom: Date.parse('2020-01-03') });
const to = date({ lowTo: Date.parse('2020-01-05') });
const hour = date({ lowFrom: Date.parse('2020-01-03T02:00Z'), highTo: Date.parse('2020-01-03T03:00Z') });
const otherHour = date({ lowFrom: Date.parse('2011-01-03T02:00Z'), highTo: Date.parse('2011-01-03T04:00Z') }, false);
const number = (low: number, codeHash = 0, unitHash?: number): SearchClause => ({
  kind: 'number',
  parameterIds: [codeHash === 0 ? VALUE : CODE_VALUE],
  codeHash,
  ranges: [{ low, high: Infinity, isLowOpen: true, isHighOpen: true, ...(unitHash === undefined ? {} : { unitHash }) }],
});
const chain = (clause: SearchClause): SearchClause => ({
  kind: 'chain',
  parameterIds: [SUBJECT],
  type: 'Patient',
  clause,
});
const has = (clause: SearchClause, isByPatient: boolean): SearchClause => ({
  kind: 'has',
  parameterIds: [SUBJECT],
  type: 'Observation',
  clause,
  isByPatient,
});
const not = (clause: SearchClause): SearchClause => ({ kind: 'not', clause });
const presence = (isPresent: boolean): SearchClause => ({ kind: 'presence', mask: 1n, isPresent });
const body: SearchClause = { kind: 'body', paths: ['$.status ? (@ == "final")'], hint: 'final' };
const near = (meters: number): NearClause => ({
  kind: 'near',
  parameterId: POSITION,
  places: [{ latitude: 48.2, longitude: 16.4, meters }],
});
const list: SearchClause = {
  kind: 'has',
  parameterIds: [9],
  type: 'List',
  clause: { kind: 'id', ids: ['l1'] },
  isByPatient: false,
};

const by = (kind: 'string' | 'date' | 'number', parameterId: number, isDescending: boolean): SortKey[] => [
  { by: { kind, parameterIds: [parameterId] }, isDescending },
];
const byPaired = (isDescending: boolean): SortKey[] => [
  {
    by: { kind: 'number', parameterIds: [VALUE], paired: { parameterIds: [CODE_VALUE], codeHash: CODE } },
    isDescending,
  },
];
const byId = (isDescending: boolean): SortKey[] => [{ by: { kind: 'id' }, isDescending }];
const byUpdate: SortKey[] = [{ by: { kind: 'updated' }, isDescending: true }];
const byDate: SortKey[] = [{ by: { kind: 'main-date' }, isDescending: false }];

type Shape = Pick<SearchQuery, 'clauses' | 'sort'> & { readonly type?: string };

/** Orders that an index provides, at least for the first key. */
const SORTS: readonly (readonly [name: string, sort: readonly SortKey[]])[] = [
  ['id', byId(false)],
  ['id, the last first', byId(true)],
  ['time of update and id', [...byUpdate, ...byId(true)]],
  ['date and number', [...byDate, ...by('number', VALUE, false)]],
  ['string and date', [...by('string', NAME, false), ...by('date', OTHER_DATE, true)]],
  ['another date, the last first, and string', [...by('date', OTHER_DATE, true), ...by('string', NAME, false)]],
];

/** The shapes of compiled statements. */
const SHAPES: readonly (readonly [name: string, shape: Shape])[] = [
  ['no clause', { clauses: [] }],
  ['one token', { clauses: [token(1)] }],
  ['one token, the oldest first', { clauses: [token(1)], sort: byDate }],
  ['one token, by time of update', { clauses: [token(1)], sort: byUpdate }],
  ['one of several tokens', { clauses: [token(1, 2, 3)] }],
  ['token and token', { clauses: [token(1), token(2)] }],
  ['one reference', { clauses: [reference(11)] }],
  ['one of several references', { clauses: [reference(11, 12)] }],
  ['reference and token', { clauses: [reference(11), token(1)] }],
  ['reference and reference', { clauses: [reference(11), reference(12)] }],
  ['patient and token', { clauses: [patient, token(11)] }],
  ['patient, token and dates', { clauses: [patient, token(11), from, to] }],
  ['ids', { clauses: [ids] }],
  ['ids and token', { clauses: [ids, token(1)] }],
  ['time of update', { clauses: [updated] }],
  ['token and time of update', { clauses: [token(1), updated] }],
  ['the earliest updates', { clauses: [updatedTo('2020-01-01T00:02:00Z')] }],
  ['the earliest updates after a time', { clauses: [updatedFrom('2020-01-01'), updatedTo('2020-01-01T00:02:00Z')] }],
  ['the earliest updates, by date', { clauses: [updatedTo('2020-01-01T00:02:00Z')], sort: byDate }],
  ['frequent token and the earliest updates', { clauses: [token(10), updatedTo('2020-01-01T00:02:00Z')] }],
  ['dates', { clauses: [from, to] }],
  ['dates, the oldest first', { clauses: [from, to], sort: byDate }],
  ['dates and token', { clauses: [from, to, token(1)] }],
  ['an hour and token', { clauses: [hour, token(1)] }],
  ['an hour', { clauses: [hour] }],
  ['another date', { clauses: [date({ lowFrom: Date.parse('2011-01-03') }, false)] }],
  ['the beginning of many strings', { clauses: [text('prefix', 'name')] }],
  ['the beginning of a few strings', { clauses: [text('prefix', 'name42')] }],
  ['many strings and a few other dates', { clauses: [text('prefix', 'name'), otherHour] }],
  ['many strings, a few other dates and a token', { clauses: [text('prefix', 'name'), otherHour, token(900)] }],
  ['a part of strings', { clauses: [text('contains', 'ame42')] }],
  ['string and token', { clauses: [text('prefix', 'name'), token(1)] }],
  ['many numbers', { clauses: [number(5)] }],
  ['a few numbers', { clauses: [number(997)] }],
  ['numbers of a unit', { clauses: [number(5, 0, 2)] }],
  ['a few numbers of a unit', { clauses: [number(995, 0, 2)] }],
  ['numbers of a code', { clauses: [number(500, CODE)] }],
  ['token and numbers of a code', { clauses: [token(1), number(500, CODE)] }],
  ['patient, token and numbers', { clauses: [patient, token(11), number(5)] }],
  ['chain to many', { clauses: [chain(token(900))] }],
  ['chain to a few', { clauses: [chain(token(950))] }],
  ['chain to a string', { clauses: [chain(text('prefix', 'patient1', PATIENT_NAME))] }],
  ['chain and token', { clauses: [chain(token(900)), token(1)] }],
  ['what many have', { type: 'Patient', clauses: [has(token(1), true)] }],
  ['what many have, link by link', { type: 'Patient', clauses: [has(token(1), false)] }],
  ['what a few have', { type: 'Patient', clauses: [has(token(60), true)] }],
  ['what many have, and a token', { type: 'Patient', clauses: [has(token(1), true), token(900)] }],
  ['what a few have, link by link', { type: 'Patient', clauses: [has(token(60), false)] }],
  ['many numbers that they have', { type: 'Patient', clauses: [has(number(5), true)] }],
  ['a few numbers that they have', { type: 'Patient', clauses: [has(number(998), true)] }],
  ['not a token', { clauses: [not(token(1))] }],
  ['present', { clauses: [presence(true)] }],
  ['missing', { clauses: [presence(false)] }],
  ['body', { clauses: [body] }],
  ['token and body', { clauses: [token(1), body] }],
  ['list', { clauses: [list] }],
  ['a near place', { clauses: [near(50_000)] }],
  ['a wide surrounding', { clauses: [near(15_000_000)] }],
  ['near and token', { clauses: [near(50_000), token(1)] }],
  ['sorted by distance', { clauses: [near(50_000)], sort: [{ by: near(50_000), isDescending: false }] }],
  ['any of token and string', { clauses: [{ kind: 'any', clauses: [token(1), text('prefix', 'name42')] }] }],
  ['any that needs a look at each', { clauses: [{ kind: 'any', clauses: [token(1), body] }] }],
  ['all in all', { clauses: [{ kind: 'all', clauses: [token(1), { kind: 'all', clauses: [number(5), from] }] }] }],
  ['sorted by string', { clauses: [], sort: by('string', NAME, false) }],
  ['sorted down by string, with a token', { clauses: [token(2)], sort: by('string', NAME, true) }],
  ['sorted by another date', { clauses: [], sort: by('date', OTHER_DATE, false) }],
  ['sorted down by another date', { clauses: [token(2)], sort: by('date', OTHER_DATE, true) }],
  ['sorted by number', { clauses: [token(2)], sort: by('number', VALUE, false) }],
  ['sorted down by number', { clauses: [], sort: by('number', VALUE, true) }],
  ['sorted by the number that goes with a code', { clauses: [token(2)], sort: byPaired(false) }],
  ['sorted down by the number that goes with a code', { clauses: [token(2), from], sort: byPaired(true) }],
  [
    'sorted by the number that goes with a code, and date',
    { clauses: [token(2)], sort: [...byPaired(true), ...byDate] },
  ],
  ['sorted by two keys', { clauses: [patient], sort: [...by('number', VALUE, true), ...byDate] }],
  [
    'a few hours, sorted by id',
    { clauses: [from, date({ lowTo: Date.parse('2020-01-03T05:00:00Z') })], sort: byId(false) },
  ],
  ['the latest updates, sorted by id', { clauses: [updatedFrom('2020-01-01T05:30:00Z')], sort: byId(true) }],
  ...SORTS.flatMap(([name, sort]): [string, Shape][] => [
    [`sorted by ${name}`, { clauses: [], sort }],
    [`sorted by ${name}, without a token`, { clauses: [not(token(1))], sort }],
  ]),
];

const queryOf = ({ type = 'Observation', clauses, sort = [] }: Shape): SearchQuery => ({
  type,
  clauses,
  sort,
  count: 20,
});

describe.each([
  ['full tables with statistics', true],
  // A connection keeps a plan that it made for empty tables until the tables have statistics.
  ['empty tables without statistics', false],
])('the plans of a search on %s', (_state, isFull) => {
  let database: PlanDatabase;

  beforeAll(async () => {
    database = await PlanDatabase.open();
    // Removes the resources that the server stores at its first start: these searches must not find them.
    await database.client.query(
      'truncate resource, search_token, reference_link, search_date, search_number, search_string',
    );
    if (isFull) await fill(database.client);
  }, 60_000);
  afterAll(() => database.close());

  const run = async <Row extends object>({ statement: { text }, values }: BoundStatement): Promise<Row[]> => {
    const given = values.map((value) => (value instanceof Date ? value.toISOString() : value));
    return (await database.client.query<Row>({ text, values: given, types: STATEMENT_TYPES })).rows;
  };

  describe.each(SHAPES)('by %s', (_name, shape) => {
    const query = queryOf(shape);

    it('reads a page by indexes in nested loops, and never scans a whole table', async () => {
      const value = query.sort?.[0]?.by.kind === 'number' ? 5 : Date.parse('2020-01-05');
      const values = (query.sort?.length ?? 0) > 1 ? [5, value] : [value];
      const positions = (['after', 'before'] as const).map((side) => ({ side, values, key: 5_000 }));
      for (const position of [undefined, ...positions]) {
        const plan = await database.planOf(compilePage({ ...query, ...(position && { position }) }));
        expect(plan).not.toMatch(/Seq Scan/);
        expect(plan).not.toMatch(/Hash (Semi |Anti |Left )?Join/);
        expect(plan).not.toMatch(/Merge (Semi |Anti |Left )?Join/);
      }
    });

    it('reads the ids of a page over several types the same way', async () => {
      const position = { side: 'after' as const, values: [Date.parse('2020-01-05')], key: 5_000 };
      const plan = await database.planOf(compilePlaces({ ...query, sort: byUpdate, position }));
      expect(plan).not.toMatch(/Seq Scan|Hash (Semi |Anti |Left )?Join|Merge (Semi |Anti |Left )?Join/);
    });

    it('counts by indexes', async () => {
      expect(await database.planOf(compileTotal(query))).not.toMatch(/Seq Scan/);
    });

    it('counts in the statement of a page that is not the last', async () => {
      const page = compilePage({ ...query, count: 2, isCounted: true });
      expect(await database.planOf(page)).not.toMatch(/Seq Scan/);
      const [row] = await run<{ total: number | null }>(page);
      const [counted] = await run<{ total: number }>(compileTotal(query));
      const total = counted?.total ?? 0;
      expect(row?.total ?? undefined).toBe(total > 2 ? total : undefined);
    });

    if (!isFull) return;

    it('returns all matches in order, each once', async () => {
      const keys: number[] = [];
      for (let position: SearchQuery['position']; ;) {
        const page = compilePage({ ...query, count: 4_000, ...(position && { position }) });
        const rows = await run<{ resource_key: number; [column: string]: unknown }>(page);
        keys.push(...rows.slice(0, 4_000).map((row) => row.resource_key));
        const last = rows[3_999];
        if (rows.length <= 4_000 || last === undefined) break;
        const values = page.terms.map((_term, index) => positionValueOf(last[`s${index}`]));
        position = { side: 'after', key: last.resource_key, values };
      }
      const [counted] = await run<{ total: number }>(compileTotal(query));
      expect(new Set(keys).size).toBe(keys.length);
      expect(keys.length).toBe(counted?.total);
    });
  });

  if (isFull) {
    const sorts = [
      ...SORTS,
      ['string', by('string', NAME, false)],
      ['string, descending', by('string', NAME, true)],
      ['another date', by('date', OTHER_DATE, false)],
      ['time of update', byUpdate],
    ] as const;

    it.each(sorts)('begins and ends a page at any match by %s', async (_name, sort) => {
      // Twice as many matches as are gathered, so that an index is walked.
      const clauses = [not(token(1))];
      const sorted = await run<{ resource_key: number; [column: string]: unknown }>(allSorted(sort));
      const keys = sorted.map((row) => row.resource_key);
      for (const at of [0, 1, 49, 50, 999, 5_000, 9_243, 9_244, 12_345, 18_000, keys.length - 1]) {
        const row = sorted[at];
        if (row === undefined) throw new Error(`There are only ${keys.length} matches`);
        const values = sort.map((_key, index) => positionValueOf(row[`s${index}`]));
        const pageOn = async (side: 'after' | 'before'): Promise<number[]> => {
          const position = { side, key: row.resource_key, values };
          const rows = await run<{ resource_key: number }>(
            compilePage({ type: 'Observation', clauses, sort, count: 70, position }),
          );
          return rows.map((one) => one.resource_key);
        };
        expect(await pageOn('after')).toEqual(keys.slice(at + 1, at + 72));
        expect((await pageOn('before')).toReversed()).toEqual(keys.slice(Math.max(at - 71, 0), at));
      }
    });
  }

  it('lists the stored types by one index step for each', async () => {
    expect(await database.planOf({ statement: STORED_TYPES, values: [] })).not.toMatch(/Seq Scan on resource/);
    expect((await run<{ type: string }>({ statement: STORED_TYPES, values: [] })).map(({ type }) => type)).toEqual(
      isFull ? ['List', 'Observation', 'Patient'] : [],
    );
  });

  it.each([
    ['targets', TARGETS, [[1, 2, 3], [SUBJECT], ['Patient', 'Group'], 100]],
    ['sources', SOURCES, [[11, 12], [SUBJECT], ['Observation'], 100]],
    ['resources by name', BY_NAME, [[1, 2], [null, 5], 50, 100]],
  ])('finds %s by indexes', async (_what, include, values) => {
    const limit = RowLimit.of([
      { type: 'Patient', clauses: [{ kind: 'id', ids: ['p1'] }] },
      { type: 'Observation', clauses: [reference(1)] },
    ]);
    for (const within of [undefined, limit]) {
      const plan = await database.planOf(boundWithin(include, values, within));
      expect(plan).not.toMatch(/Seq Scan|Hash (Semi |Anti |Left )?Join|Merge (Semi |Anti |Left )?Join/);
    }
  });

  it('uses one statement for one query shape, whatever its values', () => {
    const [one, other] = [[token(1)], [token(2)]].map((clauses) =>
      compilePage({ type: 'Patient', clauses, count: 20 }),
    );
    expect(one?.statement).toEqual(other?.statement);
    expect(one?.values).not.toEqual(other?.values);
  });

  if (!isFull) return;

  /** The shapes with a condition that no index answers: they read rows until the page is full, or to the end. */
  const LOOKS_AT_ALL = /^(list|token and token|reference and reference|.*body|any that needs|what many have, link)/;

  it.each(SHAPES.filter(([name]) => !LOOKS_AT_ALL.test(name)))(
    'reads few rows for a page by %s',
    async (_name, shape) => {
      const plan = await database.measuredPlanOf(compilePage(queryOf(shape)));
      expect(mostRowsOf(plan)).toBeLessThanOrEqual(2_100);
    },
  );

  it.each([
    ['a page', compilePage],
    ['a total', compileTotal],
  ])('reads no token outside of the searched hour for %s', async (_what, compile) => {
    const plan = await database.measuredPlanOf(compile({ type: 'Observation', clauses: [token(1), hour], count: 20 }));
    expect(mostRowsOf(plan)).toBeLessThanOrEqual(10);
  });
});

/** All Observations without token 1 with their sort values, in order, by a statement that reads whole tables. */
function allSorted(sort: readonly SortKey[]): BoundStatement {
  const columns = sort.map(({ by: { kind, ...key }, isDescending }, index) => {
    const [aggregate, id] = [isDescending ? 'max' : 'min', 'parameterIds' in key ? Number(key.parameterIds[0]) : 0];
    const rows = (table: string, value: string, rest = ''): string =>
      `(select ${aggregate}(t.${value}) from ${table} t where t.resource_key = r.resource_key and t.parameter_id = ${id}${rest})`;
    const columnsOfKind: Partial<Record<typeof kind, string>> = {
      id: 'r.id',
      updated: 'r.updated_at',
      'main-date': 'r.main_date',
      string: rows('search_string', 'beginning'),
      date: rows('search_date', 'low'),
      number: rows('search_number', 'value', ' and t.code_hash = 0'),
    };
    return `${columnsOfKind[kind]} as s${index}`;
  });
  const order = sort.flatMap(({ isDescending }, index) => [
    `(s${index} is null)`,
    `s${index} ${isDescending ? 'desc' : 'asc'}`,
  ]);
  const keys = `resource_key ${sort[0]?.isDescending === true ? 'desc' : 'asc'}`;
  const text = `select * from (select r.resource_key, ${columns.join(', ')} from resource r where r.type = 'Observation'
and not exists (select from search_token t where t.resource_key = r.resource_key and t.token_hash = 1)) k order by ${[...order, keys].join(', ')}`;
  return { statement: { name: '', text }, values: [] };
}

/** The maximum rows that one node of a plan reads. */
function mostRowsOf(node: PlanNode): number {
  const own = (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
  return Math.max(own, ...(node.Plans ?? []).map(mostRowsOf));
}

function positionValueOf(value: unknown): string | number | null {
  if (value instanceof Date) return value.getTime();
  return typeof value === 'string' || typeof value === 'number' ? value : null;
}

/** Stores Observations of some patients, one minute apart; a few last for a month, and fewer have no beginning. */
async function fill(client: Client): Promise<void> {
  const rows: readonly string[] = [
    `insert into resource (resource_key, main_date, updated_at, reference_hash, present, version, type, id, method, body)
       select n, timestamptz '2020-01-01' + n * interval '1 minute', timestamptz '2020-01-01' + (n - n % 50) * interval '1 second', 1000000 + n, n % 2, 1, 'Observation', 'r' || n, 'PUT', '{"status":"final"}'
       from generate_series(1, ${ROWS}) n`,
    `insert into resource (resource_key, main_date, updated_at, reference_hash, version, type, id, method, body)
       select 100000 + n, timestamptz '2019-01-01' + n * interval '1 minute', now(), n, 1, 'Patient', 'p' || n, 'PUT', '{}' from generate_series(1, ${PATIENTS}) n`,
    `insert into resource (resource_key, main_date, updated_at, reference_hash, version, type, id, method, body)
       values (200001, now(), now(), 5000001, 1, 'List', 'l1', 'PUT', '{}')`,
    `insert into search_token (token_hash, main_date, resource_key, patient_hash, system_hash)
       select (resource_key + k) % 40, main_date, resource_key, 1 + resource_key % ${PATIENTS}, 5 from resource, generate_series(0, 2) k where type = 'Observation'`,
    `insert into search_token (token_hash, main_date, resource_key, patient_hash, system_hash)
       select 60, main_date, resource_key, 1 + resource_key % ${PATIENTS}, 5 from resource where type = 'Observation' and resource_key % 1000 = 0`,
    `insert into search_token (token_hash, main_date, resource_key, patient_hash, system_hash)
       select h, main_date, resource_key, reference_hash, 5 from resource cross join unnest('{900,950}'::bigint[]) h where type = 'Patient' and (h = 900 or reference_hash < 3)`,
    `insert into reference_link (target_hash, main_date, resource_key, parameter_id)
       select 1 + resource_key % ${PATIENTS}, main_date, resource_key, ${SUBJECT} from resource where type = 'Observation'`,
    `insert into reference_link (target_hash, main_date, resource_key, parameter_id) select 1000000 + n, now(), 200001, 9 from generate_series(1, 30) n`,
    `insert into search_string (main_date, resource_key, parameter_id, value_hash, value)
       select main_date, resource_key, ${NAME}, k, 'name' || (resource_key * 7919 + k) % 5000 from resource, generate_series(0, 1) k where type = 'Observation' and resource_key % 2 = 0`,
    `insert into search_string (main_date, resource_key, parameter_id, value_hash, value) select main_date, resource_key, ${PATIENT_NAME}, 0, 'patient' || reference_hash from resource where type = 'Patient'`,
    `insert into search_date (low, high, main_date, resource_key, parameter_id)
       select case when resource_key % 1000 = 500 then timestamptz '0001-01-01 00:00:00+00' else main_date end,
         main_date + case when resource_key % 25 = 0 and resource_key % 1000 <> 500 then interval '30 days' else interval '1 second' end, main_date, resource_key, ${DATE} from resource where type = 'Observation'`,
    `insert into search_date (low, high, main_date, resource_key, parameter_id)
       select low, low + interval '1 second', main_date, resource_key, ${OTHER_DATE}
       from (select *, timestamptz '2010-01-01' + ((resource_key * 7919) % 20000 + k) * interval '1 hour' as low from resource, generate_series(0, 1) k where type = 'Observation' and resource_key % 3 > 0) o`,
    `insert into search_number (code_hash, value, main_date, resource_key, parameter_id, unit_hash)
       select 0, (resource_key * 7919) % 1000 + k, main_date, resource_key, ${VALUE}, resource_key % 3 from resource, generate_series(0, 1) k where type = 'Observation' and resource_key % 3 > 0`,
    `insert into search_number (code_hash, value, main_date, resource_key, parameter_id, unit_hash)
       select ${CODE}, (resource_key * 7919) % 1000, main_date, resource_key, ${CODE_VALUE}, 1 from resource where type = 'Observation' and resource_key % 5 = 0`,
    `insert into search_number (code_hash, value, main_date, resource_key, parameter_id, unit_hash)
       select k, case k when 0 then (resource_key * 7919) % 1800 / 10.0 - 90 else (resource_key * 104729) % 3600 / 10.0 - 180 end, main_date, resource_key, ${POSITION}, 0
       from resource, generate_series(0, 1) k where type = 'Observation' and resource_key % 4 = 0`,
    'vacuum analyze',
  ];
  for (const statement of rows) await client.query(statement);
}
