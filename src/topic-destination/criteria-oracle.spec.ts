import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ChangedTexts } from './changed-texts';
import { type TopicCriteria, compileByLibrary, compileCriteria } from './topic-criteria';

/** Without `and`, `or` and the like, of which the library evaluates both sides, and we may stop after the first. */
const EXPRESSIONS = [
  "gender = 'male'",
  'active',
  'active = %previous.active',
  '%current.active != %previous.active',
  '%previous.empty()',
  '%current.exists()',
  'name.exists()',
  "name.where(use = 'official').exists()",
  "name.where(given.exists()).family = 'a'",
  'name.given.count() > 1',
  "name.given.where($this = 'b').exists()",
  "name.family.startsWith('a')",
  "name.given.first().contains('b')",
  "gender in ('male' | 'female')",
  "name.family contains 'a'",
  "'a' in name.family",
  'name.family > %previous.name.family',
  "name.family & '!' = 'a!'",
  'multipleBirth is integer',
  'multipleBirth.ofType(integer) > 1',
  'multipleBirth.ofType(boolean)',
  'name.given.distinct().count() = name.given.count()',
  'name.all(family.exists())',
  "iif(active, gender = 'male', gender = 'female')",
  'name[0].family = name[1].family',
  'name.given.last() = %previous.name.given.first()',
  'active.not()',
  'name = %previous.name',
  'gender.toString().exists()',
  'multipleBirth.toInteger() > 1',
];

const letter = fc.constantFrom('a', 'b', 'c');
const patient = fc
  .record(
    {
      active: fc.boolean(),
      gender: fc.constantFrom('male', 'female', 'other'),
      multipleBirthInteger: fc.integer({ min: 0, max: 3 }),
      multipleBirthBoolean: fc.boolean(),
      name: fc.array(
        fc.record(
          {
            use: fc.constantFrom('official', 'usual'),
            family: letter,
            given: fc.array(letter, { minLength: 1, maxLength: 3 }),
          },
          { requiredKeys: [] },
        ),
        { minLength: 1, maxLength: 2 },
      ),
    },
    { requiredKeys: [] },
  )
  .map(({ multipleBirthBoolean, ...rest }) =>
    'multipleBirthInteger' in rest || multipleBirthBoolean === undefined ? rest : { ...rest, multipleBirthBoolean },
  )
  .map((members) => JSON.stringify({ resourceType: 'Patient', ...members }));

const answerOf = (criteria: TopicCriteria, change: ChangedTexts): boolean | 'error' => {
  try {
    return criteria.matches(change, () => undefined);
  } catch {
    return 'error';
  }
};

describe('a compiled criterion', () => {
  it.each(EXPRESSIONS)('decides as the FHIRPath library does: %s', (expression) => {
    const [own, library] = [compileCriteria(expression, 'Patient'), compileByLibrary(expression)];
    expect(own.isQuick).toBe(true);
    const versions = fc.tuple(fc.option(patient, { nil: undefined }), fc.option(patient, { nil: undefined }));
    fc.assert(
      fc.property(
        versions.filter(([current, previous]) => current !== undefined || previous !== undefined),
        ([current, previous]) => {
          const change = new ChangedTexts(current, previous);
          expect(answerOf(own, change)).toBe(answerOf(library, change));
        },
      ),
      { numRuns: 150 },
    );
  });
});
