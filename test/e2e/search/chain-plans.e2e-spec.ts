import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client } from 'pg';
import { compilePage, compileTotal } from '../../../src/search/compile/compile-search';
import { type SearchClause } from '../../../src/search/query/search-query';
import { PlanDatabase, type PlanNode } from '../../support/plan-database';

const PATIENTS = 2_000;
const ENCOUNTERS = 8_000;
const OBSERVATIONS = 40_000;
const CIRCLE = 40;

const LISTS = 3_000;
const LISTED = 300_000;

const [SUBJECT, ENCOUNTER, MEMBER, FAMILY, ITEM] = [7, 8, 9, 3, 10];

const chain = (parameterId: number, type: string, clause: SearchClause): SearchClause => ({
  kind: 'chain',
  parameterIds: [parameterId],
  type,
  clause,
});
const has = (parameterId: number, type: string, clause: SearchClause): SearchClause & { kind: 'has' } => ({
  kind: 'has',
  parameterIds: [parameterId],
  type,
  clause,
  isByPatient: false,
});
const family = (text: string): SearchClause => ({
  kind: 'string',
  parameterIds: [FAMILY],
  match: 'prefix',
  texts: [text],
});
const token = (hash: number): SearchClause => ({ kind: 'token', tokens: [{ hash }] });

describe('the rows that a chained search reads', () => {
  let database: PlanDatabase;

  beforeAll(async () => {
    database = await PlanDatabase.open();
    await fill(database.client);
  }, 60_000);
  afterAll(() => database.close());

  const read = async (type: string, clauses: readonly SearchClause[]): Promise<readonly [number, number]> => {
    const query = { type, clauses, count: 20 };
    return [
      rowsRead(await database.measuredPlanOf(compilePage(query))),
      rowsRead(await database.measuredPlanOf(compileTotal(query))),
    ];
  };

  it.each([
    ['few matches', 'family1999', 600],
    ['many matches', 'family19', 20_000],
  ])('D10: of two references grow with its matches, not with the type: %s', async (_few, name, most) => {
    const clause = chain(ENCOUNTER, 'Encounter', chain(SUBJECT, 'Patient', family(name)));
    const [page, total] = await read('Observation', [clause]);
    expect(page).toBeLessThan(most);
    expect(total).toBeLessThan(most * 2);
  });

  it('D10: of _has over a reference grow with its matches', async () => {
    const clause = has(SUBJECT, 'Encounter', has(ENCOUNTER, 'Observation', token(60)));
    const [page, total] = await read('Patient', [clause]);
    expect(Math.max(page, total)).toBeLessThan(2_000);
  });

  it('of one entry of a named List do not grow with other Lists of the same entry', async () => {
    const named = has(ITEM, 'List', { kind: 'id', ids: [`r${LISTED + 7}`] });
    const inNone = has(ITEM, 'List', { kind: 'id', ids: ['unknown'] });
    const one: SearchClause = { kind: 'id', ids: ['r1'] };
    for (const [clause, found] of [
      [named, 1],
      [{ kind: 'all', clauses: [named, token(71)] }, 0],
      [inNone, 0],
      [{ kind: 'all', clauses: [{ ...named, clause: { kind: 'all', clauses: [named.clause, token(73)] } }] }, 0],
    ] as const) {
      const tested: SearchClause = { kind: 'not', clause: { kind: 'not', clause } };
      const plan = await database.measuredPlanOf(compilePage({ type: 'Patient', clauses: [one, tested], count: 20 }));
      expect(plan['Actual Rows']).toBe(found);
      expect(rowsRead(plan)).toBeLessThan(50);
    }
  });

  it.each([2, 3, 4, 6])(
    'S2: of %s references in a cycle grow with the references, not with the paths',
    async (depth) => {
      const step = (clause: SearchClause): SearchClause => chain(MEMBER, 'Observation', clause);
      const deep = (end: SearchClause): SearchClause => Array.from({ length: depth }).reduce<SearchClause>(step, end);
      const LINKS = CIRCLE * CIRCLE;
      for (const end of [token(70), token(71)]) {
        const [page, total] = await read('Observation', [deep(end)]);
        // About a dozen plan nodes process each link of each step.
        expect(Math.max(page, total)).toBeLessThan(LINKS * depth * 20);
        // This plan starts from another clause, and follows the links of each of its rows separately. The cost must
        // stay within the same limit.
        const [beside] = await read('Observation', [token(72), deep(end)]);
        expect(beside).toBeLessThan(LINKS * depth * 20);
      }
    },
  );
});

/** The number of rows that all nodes of a plan read, including rows that a filter removed. */
function rowsRead({ Plans = [], ...node }: PlanNode): number {
  const own = (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
  return Plans.reduce((sum, plan) => sum + rowsRead(plan), own);
}

/**
 * Stores Patients with Encounters with Observations, Lists that all hold one Patient, and some Observations that all
 * refer to each other.
 */
async function fill(client: Client): Promise<void> {
  const resources = (type: string, first: number, count: number): string =>
    `insert into resource (resource_key, main_date, updated_at, reference_hash, version, type, id, method, body)
       select ${first} + n, timestamptz '2020-01-01' + n * interval '1 minute', now(), ${first} + n, 1, '${type}', 'r' || (${first} + n), 'PUT', '{}'
       from generate_series(1, ${count}) n`;
  const links = (parameter: number, first: number, count: number, target: string): string =>
    `insert into reference_link (target_hash, main_date, resource_key, parameter_id)
       select ${target}, r.main_date, r.resource_key, ${parameter} from generate_series(1, ${count}) n join resource r on r.resource_key = ${first} + n`;
  const [patients, encounters, observations, circle] = [0, 10_000, 100_000, 200_000];
  for (const statement of [
    'truncate resource, search_token, reference_link, search_date, search_number, search_string',
    resources('Patient', patients, PATIENTS),
    resources('Encounter', encounters, ENCOUNTERS),
    resources('Observation', observations, OBSERVATIONS),
    resources('Observation', circle, CIRCLE),
    resources('List', LISTED, LISTS),
    links(ITEM, LISTED, LISTS, '1'),
    `insert into search_string (main_date, resource_key, parameter_id, value_hash, value)
       select main_date, resource_key, ${FAMILY}, 0, 'family' || resource_key from resource where type = 'Patient'`,
    links(SUBJECT, encounters, ENCOUNTERS, `${patients} + 1 + n % ${PATIENTS}`),
    links(ENCOUNTER, observations, OBSERVATIONS, `${encounters} + 1 + n % ${ENCOUNTERS}`),
    `insert into reference_link (target_hash, main_date, resource_key, parameter_id)
       select ${circle} + m, r.main_date, r.resource_key, ${MEMBER} from generate_series(1, ${CIRCLE}) n
       join resource r on r.resource_key = ${circle} + n cross join generate_series(1, ${CIRCLE}) m`,
    `insert into search_token (token_hash, main_date, resource_key, patient_hash, system_hash)
       select h, main_date, resource_key, 0, 5 from resource cross join unnest('{60,70,71,72}'::bigint[]) h
       where case h when 60 then resource_key % 4000 = 1 and resource_key between ${observations} and ${circle}
         when 70 then resource_key > ${circle} when 71 then false else resource_key = ${circle} + 5 end`,
    'vacuum analyze',
  ])
    await client.query(statement);
}
