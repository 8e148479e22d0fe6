import { describe, expect, it } from '@jest/globals';
import { compileCriterion, type Criterion } from '../../fhirpath/fhirpath';
import { stopwatch } from '../../platform/time/stopwatch';
import { changeOf, tryCriteria } from './topic-criteria';

const patient = (members: object): string => JSON.stringify({ resourceType: 'Patient', id: 'p', ...members });

/**
 * Returns the result of a criterion for a change of a Patient. `current` or `previous` is undefined for a deleted or
 * created Patient.
 */
const says = (expression: string, current: object | undefined, previous?: object): boolean =>
  compileCriterion(expression, 'Patient').matches(
    changeOf(current && patient(current), previous && patient(previous)),
    () => undefined,
  );

describe(compileCriterion.name, () => {
  it('evaluates the current version', () => {
    const members = [{ gender: 'female' }, { gender: 'male' }, {}];
    expect(members.map((one) => says("gender = 'female'", one))).toEqual([true, false, false]);
  });

  it('compares the current version with the previous one', () => {
    const criteria = '%current.active != %previous.active';
    expect([
      says(criteria, { active: false }, { active: true }),
      says(criteria, { active: true }, { active: true }),
    ]).toEqual([true, false]);
  });

  it('has an empty %previous for a create', () => {
    expect(says('%previous.empty() and %current.exists()', {})).toBe(true);
  });

  it('has an empty %current for a delete, and evaluates the previous version', () => {
    expect(says("%current.empty() and gender = 'male'", undefined, { gender: 'male' })).toBe(true);
  });

  it('has the current version as %resource', () => {
    expect(says("%resource.gender = 'male'", { gender: 'male' })).toBe(true);
  });

  it.each(['gender', "'true'", '1', 'name', '{}', 'name.given'])(
    'returns false for a result that is not the boolean true: %s',
    (expression) => {
      expect(says(expression, { gender: 'male', name: [{ given: ['a'] }] })).toBe(false);
    },
  );

  it('supports the choice types of R4', () => {
    expect(says('deceased is boolean', { deceasedBoolean: true })).toBe(true);
    expect(says('deceasedBoolean', { deceasedBoolean: true })).toBe(true);
  });

  it('accepts any element of the types of this server', () => {
    const criteria = compileCriterion("status = 'completed' and %previous.status != 'completed'", 'SDCDocument');
    const document = (status: string): string => JSON.stringify({ resourceType: 'SDCDocument', status });
    const change = changeOf(document('completed'), document('draft'));
    expect(criteria.matches(change, () => undefined)).toBe(true);
  });

  const two = { name: [{ family: 'a' }, { family: 'b' }], active: true };
  it.each([
    ['single() of two elements', 'name.single().exists()'],
    ['a text function on two elements', "name.family.startsWith('a')"],
    ['a comparison of two elements', "name.family > 'a'"],
    ['two elements as a boolean', 'active and name.family'],
    ['two elements on the left of in', "name.family in ('a' | 'b')"],
    ['a concatenation of two elements', "name.family & 'x' = 'ax'"],
    ['a function on the wrong type', 'active.contains(1)'],
    ['a comparison of types without an order', 'active > 1'],
  ])('throws for %s', (_what, expression) => {
    expect(() => says(expression, two)).toThrow();
  });
});

describe('a fault of a criterion', () => {
  const faultOf = (expression: string, type = 'Patient'): string => {
    try {
      tryCriteria(compileCriterion(expression, type), type);
      return 'none';
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  };

  it.each([
    ['name.where(', 'line 1, column 12: the expression ends too early'],
    ["gender = 'male'\n  and and", /^line 2, column \d+: /],
    ['name..family', 'line 1, column 6: "." is not expected there'],
    ['nothing()', 'line 1, column 1: criteria have no function nothing()'],
    ["name.wher(use = 'x').exists()", 'line 1, column 6: criteria have no function wher(); do you mean where()?'],
    ['name.exists(use, family)', 'line 1, column 6: exists() takes 0 to 1 arguments, not 2'],
    ['name.first(1)', 'line 1, column 6: first() takes 0 arguments, not 1'],
    ['%nothing = 1', /^line 1, column 1: there is no %nothing; there are %current, %previous/],
    ['gendr', 'line 1, column 1: Patient has no element "gendr"; do you mean "gender"?'],
    ["%previous.gendr = 'male'", 'line 1, column 11: Patient has no element "gendr"; do you mean "gender"?'],
    ["name.where(us = 'official').exists()", 'line 1, column 12: HumanName has no element "us"; do you mean "use"?'],
    [`active${' or active'.repeat(300)}`, 'it has more than 2000 characters'],
    [`'a'${" & 'a'".repeat(7)} = ''`, /there are more than 6 "\+" and "&"$/],
    ["gender.matches('(?=a)')", /^line 1, column 16: the pattern is no regular expression of RE2/],
    ["gender.matchesFull('(a)\\\\1')", /the pattern is no regular expression of RE2/],
    [
      "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'.toChars().aggregate($total & $total, 'xxxx').toChars().exists()",
      /no function/,
    ],
    ["('a' | 'b').aggregate($total.combine($total), 1).exists()", /no function aggregate/],
    ["'aaaa'.replace('a', 'aaaaaaaaaaaaaaaaa').exists()", /no function replace/],
    ["name.defineVariable('x').exists()", /no function defineVariable/],
    ["name.trace('x').exists()", /no function trace/],
    ["gender.memberOf('http://v.example')", /no function memberOf/],
  ])('is reported for %s', (expression, message) => {
    expect(faultOf(expression)).toEqual(typeof message === 'string' ? message : expect.stringMatching(message));
  });

  it.each([
    ['Observation', "value.ofType(Quantity).value > 5 and status = 'final'"],
    ['Observation', 'valueQuantity.value > 5'],
    ['Observation', "code.coding.where(system = %loinc and code = '8302-2').exists()"],
    ['Observation', 'subject.resolve() is Patient'],
    ['Observation', 'effective.ofType(dateTime) > today() - 3 days'],
    ['Patient', "%current.name.where(use = 'official') != %previous.name.where(use = 'official')"],
    ['Patient', 'birthDate < @1980-01-01'],
    ['Patient', 'contained.name.exists()'],
    ['Patient', "extension('http://e.example').value.exists()"],
    ['QuestionnaireResponse', "repeat(item).where(linkId = '1.1').answer.exists()"],
    ['SDCDocument', "%previous.status != 'completed' and status = 'completed'"],
    ['Client', 'active = false'],
    ['Patient', "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!'.matches('^(a+)+$')"],
  ])('is not reported for a valid criterion of %s: %s', (type, expression) => {
    expect(faultOf(expression, type)).toBe('none');
  });
});

describe(tryCriteria.name, () => {
  const working = (milliseconds: (trial: number) => number): Criterion => {
    let trials = 0;
    return {
      cost: 1,
      matches: () => {
        const spent = stopwatch();
        const limit = milliseconds(trials++);
        while (spent() < limit);
        return true;
      },
    };
  };

  it('accepts a criterion whose first evaluation alone is slow', () => {
    expect(() => {
      tryCriteria(
        working((trial) => (trial === 0 ? 200 : 0)),
        'Patient',
      );
    }).not.toThrow();
  });

  it('refuses a criterion that is slow each time', () => {
    expect(() => {
      tryCriteria(
        working(() => 200),
        'Patient',
      );
    }).toThrow('it takes too long');
  });
});
