import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bundleOf, idsOf, storeTogether } from '../../support/bundle';
import { startTestApp, type TestApp } from '../../../testing/test-app';

/** The values of an Observation of the spec, for the brute-force comparison. */
interface Stored {
  readonly id: string;
  readonly patient: number;
  readonly code: number;
  readonly system: string;
  readonly value: number;
  readonly unit: 'kg' | 'g';
  readonly day: number;
  readonly component: { readonly code: number; readonly value: number };
  readonly members: readonly number[];
}

const SIZE = 60;
const PATIENTS = 7;
const range = (length: number, from = 0): number[] => Array.from({ length }, (_, n) => from + n);

const stored: readonly Stored[] = range(SIZE).map((n) => ({
  id: `o${n}`,
  patient: n % PATIENTS,
  code: n % 23,
  system: `http://x.example/${n % 2}`,
  value: (n * 17) % 40,
  unit: n % 3 === 0 ? 'g' : 'kg',
  day: 1 + (n % 28),
  component: { code: n % 11, value: (n * 13) % 30 },
  // Cyclic references.
  members: n % 4 === 0 ? [] : [(n * 7 + 3) % SIZE, (n * n + 1) % SIZE],
}));

const dayText = (day: number): string => `2026-02-${String(day).padStart(2, '0')}`;
const UCUM = 'http://unitsofmeasure.org';

const observation = (one: Stored): object => ({
  resourceType: 'Observation',
  status: 'final',
  subject: { reference: `Patient/p${one.patient}` },
  code: { coding: [{ system: one.system, code: `c${one.code}` }] },
  effectiveDateTime: dayText(one.day),
  valueQuantity: { value: one.value, system: UCUM, code: one.unit },
  component: [
    {
      code: { coding: [{ system: one.system, code: `k${one.component.code}` }] },
      valueQuantity: { value: one.component.value, system: UCUM, code: 'kg' },
    },
  ],
  ...(one.members.length === 0 ? {} : { hasMember: one.members.map((n) => ({ reference: `Observation/o${n}` })) }),
});

const list = (numbers: readonly number[], text: (n: number) => string): string => numbers.map(text).join(',');
const kilos = ({ value, unit }: Stored): number => (unit === 'g' ? value / 1000 : value);

/** The numbers of the searched codes: more alternatives than the server probes one by one. Most match nothing. */
const CODES = range(40, 5);
const PAIRS = range(60);
const pairValue = (n: number): number => (n * 17) % 40;

type Case = readonly [what: string, query: string, holds: (one: Stored) => boolean];

const hasPair = ({ code, value }: Stored): boolean => PAIRS.some((n) => n % 23 === code && pairValue(n) === value);
const hasGram = (one: Stored): boolean => range(40).some((n) => Math.abs(kilos(one) - n) < 0.5);
const leadsTo = (one: Stored, holds: (member: Stored) => boolean): boolean =>
  one.members.some((n) => stored.some(({ id }, at) => id === `o${n}` && holds(stored[at] ?? one)));
const inCodes = ({ code }: Stored): boolean => CODES.includes(code);

const CASES: readonly Case[] = [
  ['codes', `code=${list(CODES, (n) => `c${n}`)}`, inCodes],
  ['not any of some codes', `code:not=${list(CODES, (n) => `c${n}`)}`, (one) => !inCodes(one)],
  [
    'none of some codes of a system',
    `code:not=${list(CODES, (n) => `http://x.example/1|c${n}`)}`,
    (one) => !(inCodes(one) && one.system.endsWith('1')),
  ],
  [
    'none of some codes, some of a system',
    `code:not=${list(CODES, (n) => `${n % 2 === 0 ? 'http://x.example/1|' : ''}c${n}`)}`,
    (one) => !(inCodes(one) && (one.code % 2 === 1 || one.system.endsWith('1'))),
  ],
  ['codes of a ValueSet', 'code:in=http://x.example/set', (one) => inCodes(one) && one.system.endsWith('0')],
  ['codes not of a ValueSet', 'code:not-in=http://x.example/set', (one) => !(inCodes(one) && one.system.endsWith('0'))],
  ['pairs', `code-value-quantity=${list(PAIRS, (n) => `c${n % 23}$${pairValue(n)}`)}`, hasPair],
  [
    'pairs with systems',
    `code-value-quantity=${list(PAIRS, (n) => `http://x.example/1|c${n % 23}$${pairValue(n)}`)}`,
    (one) => hasPair(one) && one.system.endsWith('1'),
  ],
  [
    'pairs above values',
    `code-value-quantity=${list(PAIRS, (n) => `c${n % 23}$gt${pairValue(n)}`)}`,
    ({ code, value }) => PAIRS.some((n) => n % 23 === code && value > pairValue(n)),
  ],
  [
    'pairs in units',
    `code-value-quantity=${list(PAIRS, (n) => `c${n % 23}$${pairValue(n)}|${UCUM}|kg`)}`,
    (one) => PAIRS.some((n) => n % 23 === one.code && Math.abs(kilos(one) - pairValue(n)) < 0.5),
  ],
  [
    'pairs of components',
    `component-code-value-quantity=${list(PAIRS, (n) => `k${n % 11}$le${n % 9}`)}`,
    ({ component }) => PAIRS.some((n) => n % 11 === component.code && component.value <= n % 9),
  ],
  [
    'pairs of components or the whole',
    `combo-code-value-quantity=${list(PAIRS, (n) => `${n % 2 === 0 ? 'c' : 'k'}${n % 23}$${pairValue(n)}`)}`,
    ({ code, value, component }) =>
      PAIRS.some((n) =>
        n % 2 === 0
          ? n % 23 === code && pairValue(n) === value
          : n % 23 === component.code && pairValue(n) === component.value,
      ),
  ],
  ['numbers', `value-quantity=${list(range(20), (n) => String(2 * n))}`, ({ value }) => value % 2 === 0],
  ['numbers in units', `value-quantity=${list(range(40), (n) => `${n}|${UCUM}|kg`)}`, hasGram],
  ['numbers above others', `value-quantity=${list(range(20, 30), (n) => `gt${n}`)}`, ({ value }) => value > 30],
  ['days', `date=${list(range(20, 3), dayText)}`, ({ day }) => day >= 3 && day < 23],
  ['dates before days', `date=${list(range(20, 3), (n) => `lt${dayText(n)}`)}`, ({ day }) => day < 22],
  [
    'days, and all other days',
    `date=${list(range(20, 3), (n) => `${n % 2 === 0 ? 'ne' : 'eq'}${dayText(n)}`)}`,
    () => true,
  ],
  ['subjects', `subject=${list(range(30, 3), (n) => `Patient/p${n}`)}`, ({ patient }) => patient >= 3],
  ['other subjects', `subject:not=${list(range(30, 3), (n) => `Patient/p${n}`)}`, ({ patient }) => patient < 3],
  ['names of subjects', `subject:Patient.name=${list(range(30, 3), (n) => `fam${n}x`)}`, ({ patient }) => patient >= 3],
  [
    'codes of a referenced Observation',
    `has-member:Observation.code=${list(CODES, (n) => `c${n}`)}`,
    (one) => leadsTo(one, inCodes),
  ],
  [
    'codes over two references, in cycles',
    `has-member:Observation.has-member:Observation.code=${list(CODES, (n) => `c${n}`)}`,
    (one) => leadsTo(one, (member) => leadsTo(member, inCodes)),
  ],
  [
    'pairs over two references, in cycles',
    `has-member:Observation.has-member:Observation.code-value-quantity=${list(PAIRS, (n) => `c${n % 23}$${pairValue(n)}`)}`,
    (one) => leadsTo(one, (member) => leadsTo(member, hasPair)),
  ],
];

describe('searches for one of many alternatives', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp();
    const put = (type: string, id: string, resource: object): object => ({
      resource: { resourceType: type, ...resource },
      request: { method: 'PUT', url: `${type}/${id}` },
    });
    const concept = CODES.map((n) => ({ code: `c${n}` }));
    const compose = { include: [{ system: 'http://x.example/0', concept }] };
    const entry = [
      put('ValueSet', 'set', { url: 'http://x.example/set', status: 'active', compose }),
      ...range(PATIENTS).map((n) => put('Patient', `p${n}`, { name: [{ family: `Fam${n}x` }] })),
      ...stored.map((one) => put('Observation', one.id, observation(one))),
    ];
    await storeTogether(app, entry);
  });
  afterAll(() => app.close());

  const found = async (type: string, query: string): Promise<string[]> => {
    const answer = await app.post(`/fhir/${type}/_search`, `${query.replaceAll('|', '%7C')}&_count=200`, {
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    });
    if (answer.status !== 200) throw new Error(answer.text);
    const bundle = bundleOf(answer);
    expect(bundle.total).toBe(bundle.entry.length);
    return idsOf(bundle).sort();
  };
  const idsWhere = (holds: (one: Stored) => boolean): string[] =>
    stored
      .filter(holds)
      .map(({ id }) => id)
      .sort();

  it.each(CASES)('S17, S21: find by %s the same as a brute-force filter', async (_what, query, holds) => {
    expect(await found('Observation', query)).toEqual(idsWhere(holds));
    // The same search in other orders, and with another clause that the plan may start from.
    expect(await found('Observation', `${query}&_sort=_lastUpdated`)).toEqual(idsWhere(holds));
    expect(await found('Observation', `${query}&_sort=value-quantity,code`)).toEqual(idsWhere(holds));
    expect(await found('Observation', `${query}&subject=Patient/p3`)).toEqual(
      idsWhere((one) => holds(one) && one.patient === 3),
    );
    expect(await found('Observation', `${query}&_id=o1,o5,o9,o22,o31`)).toEqual(
      idsWhere((one) => holds(one) && ['o1', 'o5', 'o9', 'o22', 'o31'].includes(one.id)),
    );
  });

  it('S2: find Patients by alternatives of their Observations', async () => {
    const some = CODES.filter((n) => n > 20);
    const expected = range(PATIENTS).filter((n) =>
      stored.some(({ patient, code }) => patient === n && some.includes(code)),
    );
    const query = `_has:Observation:patient:code=${list(some, (n) => `c${n}`)}`;
    expect(await found('Patient', query)).toEqual(expected.map((n) => `p${n}`));
    expect(await found('Patient', `${query}&name=fam`)).toEqual(expected.map((n) => `p${n}`));
  });
});
