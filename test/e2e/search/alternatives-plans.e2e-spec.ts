import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client } from 'pg';
import { compilePage, compileTotal } from '../../../src/search/compile/compile-search';
import { type SearchClause, type SortKey } from '../../../src/search/query/search-query';
import { PlanDatabase, type PlanNode } from '../../support/plan-database';

const ALTERNATIVES = 1_000;
const CODES = 50;
const range = (length: number): number[] => Array.from({ length }, (_, n) => n);
const many = range(ALTERNATIVES);

const [NAME, DATE, OTHER_DATE, SUBJECT, VALUE, CODE_VALUE, MEMBER] = [3, 4, 5, 7, 6, 8, 9];
const DAY = 86_400_000;
const MORNING = Date.parse('2020-01-01');

const not = (clause: SearchClause): SearchClause => ({ kind: 'not', clause });
const tokens: SearchClause = { kind: 'token', tokens: many.map((hash) => ({ hash })) };
const coded: SearchClause = { kind: 'token', tokens: many.map((hash) => ({ hash, systemHash: 5 })) };
const references: SearchClause = {
  kind: 'reference',
  links: many.map((n) => ({ targetHash: 1 + n, parameterId: SUBJECT })),
};
const strings: SearchClause = {
  kind: 'string',
  parameterIds: [NAME],
  match: 'prefix',
  texts: many.map((n) => `name${n}x`),
};
const within = (low: number, high: number): { low: number; high: number; isLowOpen: false; isHighOpen: false } => ({
  ...{ low, high },
  ...{ isLowOpen: false, isHighOpen: false },
});
const number = (codeHash: number, low: number, high: number): SearchClause => ({
  kind: 'number',
  parameterIds: [codeHash === 0 ? VALUE : CODE_VALUE],
  codeHash,
  ranges: [within(low, high)],
});
const numbers: SearchClause = {
  kind: 'number',
  parameterIds: [VALUE],
  codeHash: 0,
  ranges: many.map((n) => within(n, n + 0.5)),
};
const pairs: SearchClause = { kind: 'any', clauses: many.map((n) => number(1 + (n % CODES), 10 * n, 10 * n + 5)) };
/** Alternatives with one code and an open range each, so nearly every row matches nearly every alternative. */
const wide: SearchClause = { kind: 'any', clauses: many.map((n) => number(1, n, Infinity)) };
const pairsOfSystems: SearchClause = {
  kind: 'any',
  clauses: many.map((n) => ({
    kind: 'all',
    clauses: [
      number(1 + (n % CODES), 10 * n, 10 * n + 5),
      { kind: 'token', tokens: [{ hash: n % CODES, systemHash: 5 }] },
    ],
  })),
};
const dates = (parameterId: number): SearchClause => ({
  kind: 'date',
  parameterIds: [parameterId],
  boxes: many.map((n) => ({ lowFrom: MORNING + n * DAY, highTo: MORNING + n * DAY + DAY / 2 })),
  isSingle: true,
  isMainDate: parameterId === DATE,
});
const has = (clause: SearchClause): SearchClause => ({
  kind: 'has',
  parameterIds: [MEMBER],
  type: 'Observation',
  clause,
  isByPatient: false,
});
const patientHas: SearchClause = {
  kind: 'has',
  parameterIds: [SUBJECT],
  type: 'Observation',
  clause: tokens,
  isByPatient: true,
};
const byKeys: SortKey[] = [
  { by: { kind: 'path', paths: ['$.status'], as: 'json' }, isDescending: false },
  { by: { kind: 'number', parameterIds: [VALUE] }, isDescending: true },
  { by: { kind: 'main-date' }, isDescending: false },
];
const byUpdate: SortKey[] = [{ by: { kind: 'updated' }, isDescending: true }];

interface Shape {
  readonly type?: string;
  readonly clauses: readonly SearchClause[];
  readonly sort?: readonly SortKey[];
  /** Maximum number of plan nodes that read each row. Default: 20. */
  readonly nodes?: number;
}

const SHAPES: readonly (readonly [string, Shape])[] = [
  ['S17: none of 1,000 codes', { clauses: [not(tokens)] }],
  ['S17: none of 1,000 codes of systems', { clauses: [not(coded)] }],
  ['S17: none of 1,000 codes, by time of update', { clauses: [not(tokens)], sort: byUpdate }],
  ['S17: several sort keys', { clauses: [], sort: byKeys }],
  ['S17: several sort keys, with many codes', { clauses: [not(tokens)], sort: byKeys }],
  ['S21: 1,000 pairs', { clauses: [pairs] }],
  ['S21: none of 1,000 pairs', { clauses: [not(pairs)] }],
  ['S21: 1,000 pairs that match the same rows', { clauses: [wide] }],
  ['S21: 1,000 pairs with systems', { clauses: [pairsOfSystems] }],
  ['S21: 1,000 codes and 1,000 pairs', { clauses: [tokens, pairs] }],
  ['1,000 references', { clauses: [references] }],
  ['none of 1,000 references', { clauses: [not(references)] }],
  ['1,000 names', { clauses: [strings] }],
  ['none of 1,000 names', { clauses: [not(strings)] }],
  ['1,000 numbers', { clauses: [numbers] }],
  ['none of 1,000 numbers', { clauses: [not(numbers)] }],
  ['1,000 days', { clauses: [dates(DATE)] }],
  ['1,000 days of another date parameter', { clauses: [dates(OTHER_DATE)] }],
  ['none of 1,000 days', { clauses: [not(dates(OTHER_DATE))] }],
  ['patients with one of 1,000 codes', { type: 'Patient', clauses: [patientHas] }],
  ['patients with none of 1,000 codes', { type: 'Patient', clauses: [not(patientHas)] }],
  ['S2: four levels of _has', { clauses: [has(has(has(has(tokens))))], nodes: 80 }],
];

describe('the rows that a search for many alternatives reads', () => {
  const databases = new Map<number, PlanDatabase>();
  const SIZES = [500, 2_000, 8_000];

  beforeAll(async () => {
    for (const size of SIZES) {
      const database = await PlanDatabase.open();
      databases.set(size, database);
      await fill(database.client, size);
    }
  }, 60_000);
  afterAll(async () => {
    for (const database of databases.values()) await database.close();
  });

  it.each(SHAPES)(
    'grow with the rows, and are not multiplied by the alternatives: %s',
    async (_name, { nodes = 20, ...shape }) => {
      const query = { type: 'Observation', count: 20, ...shape };
      for (const [size, database] of databases) {
        for (const compiled of [compilePage(query), compileTotal(query)]) {
          const read = rowsRead(await database.measuredPlanOf(compiled));
          // The plan reads each alternative as one more row.
          expect([size, read, read < nodes * (size + ALTERNATIVES)]).toEqual([size, read, true]);
        }
      }
    },
  );
});

/** The number of rows that all nodes of a plan read, including rows that a filter removed. */
function rowsRead({ Plans = [], ...node }: PlanNode): number {
  const own = (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
  return Plans.reduce((sum, plan) => sum + rowsRead(plan), own);
}

/** Observations of patients, each with a code, a value, that value with its code, two dates, a name and a member. */
async function fill(client: Client, size: number): Promise<void> {
  const all = `from resource where type = 'Observation'`;
  for (const statement of [
    'truncate resource, search_token, reference_link, search_date, search_number, search_string',
    `insert into resource (resource_key, main_date, updated_at, reference_hash, version, type, id, method, body)
       select n, timestamptz '2020-01-01' + n * interval '1 hour', now(), 1000000 + n, 1, 'Observation', 'r' || n, 'PUT', '{"status":"final"}' from generate_series(1, ${size}) n`,
    `insert into resource (resource_key, main_date, updated_at, reference_hash, version, type, id, method, body)
       select 100000 + n, timestamptz '2019-01-01' + n * interval '1 hour', now(), n, 1, 'Patient', 'p' || n, 'PUT', '{}' from generate_series(1, ${size / 10}) n`,
    `insert into search_token (token_hash, main_date, resource_key, patient_hash, system_hash)
       select resource_key % ${CODES}, main_date, resource_key, 1 + resource_key % ${size / 10}, 5 ${all}`,
    `insert into reference_link (target_hash, main_date, resource_key, parameter_id)
       select 1 + resource_key % ${size / 10}, main_date, resource_key, ${SUBJECT} ${all}`,
    `insert into reference_link (target_hash, main_date, resource_key, parameter_id)
       select 1000000 + 1 + (resource_key * 7) % ${size}, main_date, resource_key, ${MEMBER} ${all}`,
    `insert into search_string (main_date, resource_key, parameter_id, value_hash, value) select main_date, resource_key, ${NAME}, 0, 'name' || resource_key || 'x' ${all}`,
    `insert into search_date (low, high, main_date, resource_key, parameter_id)
       select main_date, main_date, main_date, resource_key, p.n from resource, unnest('{${DATE},${OTHER_DATE}}'::integer[]) p(n) where type = 'Observation'`,
    `insert into search_number (code_hash, value, main_date, resource_key, parameter_id, unit_hash)
       select 0, resource_key, main_date, resource_key, ${VALUE}, 1 ${all}`,
    `insert into search_number (code_hash, value, main_date, resource_key, parameter_id, unit_hash)
       select 1 + resource_key % ${CODES}, resource_key, main_date, resource_key, ${CODE_VALUE}, 1 ${all}`,
    'vacuum analyze',
  ])
    await client.query(statement);
}
