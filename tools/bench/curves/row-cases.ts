import { type CurveCall, type CurveCase } from './curve-case';

/** A resource whose rows in one search index table grow with its size. */
interface RowKind {
  readonly table: string;
  readonly type: string;
  /** The members of the resource. The index rows of two resources with different `shift` differ. */
  readonly membersOf: (size: number, shift: number) => object;
}

const list = (size: number, item: (n: number) => object): object[] => Array.from({ length: size }, (_, n) => item(n));

const KINDS: readonly RowKind[] = [
  {
    table: 'search_string',
    type: 'Patient',
    membersOf: (size, shift) => ({ name: list(size, (n) => ({ family: `family ${shift} ${n}` })) }),
  },
  {
    table: 'search_token',
    type: 'Patient',
    membersOf: (size, shift) => ({ identifier: list(size, (n) => ({ system: 'http://s', value: `${shift}-${n}` })) }),
  },
  {
    table: 'reference_link',
    type: 'Observation',
    membersOf: (size, shift) => ({
      status: 'final',
      code: { text: 'c' },
      hasMember: list(size, (n) => ({ reference: `Observation/m-${shift}-${n}` })),
    }),
  },
  {
    table: 'search_date',
    type: 'Goal',
    membersOf: (size, shift) => ({
      lifecycleStatus: 'active',
      description: { text: 'g' },
      subject: { reference: 'Patient/goal' },
      target: list(size, (n) => ({ dueDate: dayOf((shift % 100) * 20_000 + n) })),
    }),
  },
  {
    table: 'search_number',
    type: 'Observation',
    membersOf: (size, shift) => ({ ...components(size, (n) => ({ value: shift + n / 100_000, unit: 'kg' })) }),
  },
  {
    table: 'search_unit',
    type: 'Observation',
    membersOf: (size, shift) => ({ ...components(size, (n) => ({ value: 1, unit: `u-${shift}-${n}` })) }),
  },
];

const components = (size: number, quantity: (n: number) => object): object => ({
  status: 'final',
  code: { text: 'c' },
  component: list(size, (n) => ({ code: { coding: [{ code: `c${n % 50}` }] }, valueQuantity: quantity(n) })),
});

const DAY_MILLISECONDS = 86_400_000;
const dayOf = (n: number): string => new Date(Date.UTC(1000, 0, 1) + n * DAY_MILLISECONDS).toISOString().slice(0, 10);

const SIZES = [1_000, 4_000, 16_000];

let shifts = 0;

/** Cases for each table: a write that adds all rows, replaces all, keeps all except one, or removes all. */
export const ROW_CASES: readonly CurveCase[] = KINDS.flatMap((kind) => {
  const { table, type } = kind;
  const put = (size: number, further: object = {}, shift = ++shifts): CurveCall => {
    const id = `curve-${size}`;
    return { method: 'PUT', path: `/fhir/${type}/${id}`, body: bodyOf(kind, size, shift, { id, ...further }) };
  };
  const language = (): object => ({ language: `x-${++shifts}` });
  const replaced: CurveCase = {
    name: `${table}: replace all`,
    sizes: table === 'search_string' ? [750, 3_000, 12_000] : SIZES,
    before: (size) => put(size),
    request: (size) => put(size),
  };
  const removed: CurveCase = {
    name: `${table}: delete`,
    sizes: SIZES,
    before: (size) => put(size),
    request: (size) => ({ method: 'DELETE', path: `/fhir/${type}/curve-${size}` }),
  };
  return [
    {
      name: `${table}: create`,
      sizes: SIZES,
      request: (size) => ({ method: 'POST', path: `/fhir/${type}`, body: bodyOf(kind, size, ++shifts, {}) }),
    },
    table === 'search_string' ? { ...replaced, promise: { size: 3_000, milliseconds: 300 } } : replaced,
    {
      name: `${table}: change another value`,
      sizes: SIZES,
      before: (size) => put(size, language(), 0),
      request: (size) => put(size, language(), 0),
    },
    table === 'search_string' ? { ...removed, promise: { size: 16_000, milliseconds: 1_000 } } : removed,
  ];
});

const bodyOf = ({ type, membersOf }: RowKind, size: number, shift: number, further: object): object => ({
  resourceType: type,
  ...further,
  ...membersOf(size, shift),
});
