import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { compileCriterion, type Criterion, libraryCriterion, type Versions } from './criterion';

/**
 * Paths of a generated Patient by the kind of their values. Each element may be absent, and texts may have extensions.
 */
const PATHS = {
  boolean: ['active', '%previous.active', 'deceased.ofType(boolean)', 'communication.preferred'],
  text: [
    'gender',
    '%previous.gender',
    'name.family',
    'name.given',
    'name[0].family',
    'name.given.first()',
    'name.given.last()',
    "name.where(use = 'official').family",
    '%current.name.given.tail()',
    'name.select(given.first())',
    "name.where(use = 'usual').given[1]",
    'active.toString()',
    'multipleBirth.ofType(integer).toString()',
    'iif(active, gender, name.family.first())',
    "iif(gender = 'male', 'a', 'b')",
    "name.family.first() + 'a'",
    'name.given.first() & name.family.first()',
    "'a'",
    "'male'",
    "'2'",
  ],
  number: [
    'multipleBirth.ofType(integer)',
    'name.count()',
    'name.given.count()',
    'active.toInteger()',
    "'2'.toInteger()",
    'gender.toInteger()',
    'name.given.first().toInteger()',
    'multipleBirth.ofType(integer) + 1',
    'iif(active, 1, 2)',
    '0',
    '-1',
    '2',
    '1.5',
    '2.000000001',
    '{}',
  ],
  date: ['birthDate', '%previous.birthDate', 'deceased.ofType(dateTime)', 'name[0].period.start'],
  element: [
    'name',
    '%previous.name',
    'name.first()',
    'name.last()',
    'name.tail()',
    'communication',
    'gender.extension',
  ],
} as const;

const one = (list: readonly string[]): fc.Arbitrary<string> => fc.constantFrom(...list);
const all = Object.values(PATHS).flat();

const sameKind = fc.oneof(...Object.values(PATHS).map((paths) => fc.tuple(one(paths), one(paths))));

const question: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 4,
    arbitrary: sameKind.chain(([a, b]) => one(['=', '!=', 'in', 'contains']).map((by) => `${a} ${by} ${b}`)),
  },
  {
    weight: 2,
    arbitrary: fc
      .oneof(
        fc.tuple(one(PATHS.text), one(PATHS.text)),
        fc.tuple(one(PATHS.number), one(PATHS.number)),
        fc.tuple(one(PATHS.date), one(PATHS.date)),
      )
      .chain(([a, b]) => one(['<', '<=', '>', '>=']).map((by) => `${a} ${by} ${b}`)),
  },
  fc.tuple(one(all), one(all)).chain(([a, b]) => one(['=', '!=', 'in', '<']).map((by) => `${a} ${by} ${b}`)),
  one(all).chain((a) => one(['exists()', 'empty()', 'hasValue()', 'isDistinct()']).map((by) => `(${a}).${by}`)),
  sameKind.chain(([a, b]) =>
    one(['|', 'distinct', 'intersect', 'combine']).map((by) => `${setOf(by, a, b)}.count() = 1`),
  ),
  fc
    .tuple(one(PATHS.text), one(['startsWith', 'endsWith', 'contains', 'matches']), one(PATHS.text))
    .map(([a, by, b]) => `(${a}).${by}(${b})`),
  one(['boolean', 'integer', 'string', 'Quantity']).map((type) => `multipleBirth is ${type}`),
  one(PATHS.boolean),
);

function setOf(by: string, a: string, b: string): string {
  if (by === '|') return `(${a} | ${b})`;
  return by === 'distinct' ? `(${a}).distinct()` : `(${a}).${by}(${b})`;
}

/** Expressions about each name. Some of them read the whole resource. */
const ofNames = one([
  'family.exists()',
  "use = 'official'",
  'given.count() > 1',
  "given contains 'a'",
  'family = %resource.gender',
  'given.first() = %resource.name.first().given.last()',
  "family > 'a'",
  "$this.family in ('a' | 'b')",
  "family.startsWith('m') and use.empty()",
  'family.hasValue().not()',
  'family.extension.exists()',
  "given.where($this = 'a').exists() or use != 'usual'",
]);

const expression: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: question },
  fc.tuple(question, one(['and', 'or', 'xor', 'implies']), question).map(([a, by, b]) => `(${a}) ${by} (${b})`),
  question.map((a) => `(${a}).not()`),
  question.map((a) => `iif(${a}, ${a}, active)`),
  ofNames.chain((a) =>
    one([`name.where(${a}).exists()`, `name.exists(${a})`, `name.all(${a})`, `name.select(${a}).count() = 1`]),
  ),
);

const text = fc.constantFrom('a', 'b', 'male', '2', 'A');
const extended = fc.option(fc.constantFrom({ id: 'x' }, { extension: [{ url: 'http://e', valueCode: 'c' }] }), {
  nil: undefined,
  freq: 4,
});
const date = fc.constantFrom(
  '1980',
  '1980-02-29',
  '1980-02-29T10:00:00Z',
  '1980-02-29T23:30:00-05:00',
  '1980-03-01T04:30:00Z',
);
const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(arbitrary, { nil: undefined });

const patient = fc
  .record({
    active: maybe(fc.boolean()),
    gender: maybe(text),
    _gender: extended,
    birthDate: maybe(fc.constantFrom('1980', '1980-02', '1980-02-29', '1980-03-01')),
    multipleBirthInteger: maybe(fc.integer({ min: 0, max: 3 })),
    deceasedBoolean: maybe(fc.boolean()),
    deceasedDateTime: maybe(date),
    communication: maybe(fc.array(fc.record({ preferred: fc.boolean() }), { minLength: 1, maxLength: 2 })),
    name: maybe(
      fc.array(
        fc.record({
          use: maybe(fc.constantFrom('official', 'usual')),
          family: maybe(text),
          _family: extended,
          period: maybe(fc.record({ start: date })),
          given: fc.array(text, { minLength: 1, maxLength: 3 }),
        }),
        { minLength: 1, maxLength: 2 },
      ),
    ),
  })
  // A choice may have only one value, so one of the two is removed.
  .map(({ deceasedBoolean, ...rest }) => (rest.deceasedDateTime === undefined ? { ...rest, deceasedBoolean } : rest))
  .map((members) => JSON.stringify({ resourceType: 'Patient', ...members }));

const changes = fc
  .tuple(maybe(patient), maybe(patient))
  .filter(([current, previous]) => current !== undefined || previous !== undefined)
  .map(([current, previous]) => versionsOf(current, previous));

function versionsOf(current: string | undefined, previous: string | undefined): Versions {
  const parsed = [current, previous].map((one): unknown => (one === undefined ? undefined : JSON.parse(one)));
  return { current, previous, values: { current: parsed[0], previous: parsed[1] } };
}

type Answer = boolean | 'error';

const answerOf = (criterion: Criterion, change: Versions): Answer => {
  try {
    return criterion.matches(change, () => undefined);
  } catch {
    return 'error';
  }
};

/**
 * Whether both answers agree. The FHIRPath library evaluates both sides of an operator; compiled code may stop after
 * the first, so an error of the library is no difference there.
 */
const isAlike = (own: Answer, library: Answer, text: string): boolean =>
  own === library || (library === 'error' && / (and|or|xor|implies) |iif|all\(|exists\(/.test(text));

/**
 * Whether a known fault of the FHIRPath library concerns the text: in where() and exists(), it treats any boolean
 * element as true.
 */
const isFaultOfLibrary = (text: string): boolean => /(where|exists)\([^()]*(active|preferred)\)/.test(text);

describe('the compiled code and the FHIRPath library', () => {
  it('D9: return the same results for generated expressions', () => {
    let compared = 0;
    let compiled = 0;
    fc.assert(
      fc.property(expression, fc.array(changes, { minLength: 3, maxLength: 3 }), (text, asked) => {
        const own = compileCriterion(text, 'Patient');
        compared += 1;
        if (own.cost === Infinity || isFaultOfLibrary(text)) return;
        compiled += 1;
        const library = libraryCriterion(text);
        for (const change of asked) {
          const answers = { own: answerOf(own, change), library: answerOf(library, change) };
          if (!isAlike(answers.own, answers.library, text)) expect({ text, change, ...answers }).toBe('alike');
        }
      }),
      {
        numRuns: Number(process.env.ORACLE_RUNS ?? 400),
        seed: Number(process.env.ORACLE_SEED ?? 20),
        endOnFailure: true,
      },
    );
    // A comparison proves nothing where the FHIRPath library evaluates the expression, so most must be compiled.
    expect(compiled / compared).toBeGreaterThan(0.5);
  });
});
