import { describe, expect, it } from '@jest/globals';
import { allowedFunctions } from './allowed';
import { compileCriterion, libraryCriterion } from './criterion';
import { BINDING_POWER, childNodesOf, type Expression } from './syntax/expression';
import { compileInvariant } from './invariant';
import { parseExpression } from './syntax/parse-expression';

const current = {
  resourceType: 'Patient',
  id: 'p',
  active: true,
  _active: { id: 'a1' },
  gender: 'male',
  birthDate: '1980-02-29',
  multipleBirthInteger: 2,
  name: [
    { use: 'official', family: 'Lee', given: ['Ann', 'Bo'] },
    { use: 'usual', family: 'Ng', _family: { extension: [{ url: 'http://e', valueCode: 'c' }] } },
  ],
  contact: [{ name: { family: 'Oh' } }],
  managingOrganization: { reference: 'Organization/o' },
};

/** Expressions that are true for the Patient above in both back ends. */
const TRUE = [
  // Operators
  "gender = 'male' and 1 = 1.0 and name.family != 'Lee' and (gender = {}).empty()",
  "gender ~ 'MALE' and gender !~ 'female'",
  "1 < 2 and 2 <= 2 and 'b' > 'a' and 1.5 >= 1",
  'multipleBirth.ofType(integer) < 2.5 and birthDate < @1981',
  'true or {}',
  'false xor true',
  'false implies {}',
  "gender in ('male' | 'female') and name.family contains 'Ng'",
  'multipleBirth is integer and (multipleBirth as integer) = 2',
  "name.first().family + '!' = 'Lee!' and 1 + 1 = 2 and 0.1 + 0.2 = 0.3",
  "name.last().given & 'x' = 'x'",
  '2 * 3 - 4 = 2 and -1 < 0 and 3 / 2 = 1.5',
  '7 div 2 = 3 and 7 mod 2 = 1',
  // Existence
  'contact.exists() and name.exists(given.exists()) and photo.empty()',
  'active.not() = false and name.count() = 2',
  'name.all(family.exists()) and (true | true).allTrue() and (false | true).anyTrue()',
  'false.allFalse() and (false | true).anyFalse()',
  'name.family.isDistinct() and name.use.distinct().count() = 2',
  "name.given.subsetOf('Ann' | 'Bo' | 'Cy') and name.given.supersetOf('Bo')",
  // Filtering and subsetting
  "name.where(use = 'usual').family = 'Ng'",
  "name.select(given).count() = 2 and contact.repeat(name).family = 'Oh'",
  'multipleBirth.ofType(integer) = 2 and multipleBirth.is(integer) and multipleBirth.as(integer) = 2',
  "name[0].family = 'Lee' and name.given[1] = 'Bo' and contact.single().exists()",
  "name.first().use = 'official' and name.last().use = 'usual' and name.tail().use = 'usual'",
  "name.skip(1).use = 'usual' and name.take(1).use = 'official'",
  "name.given.intersect('Bo' | 'Cy') = 'Bo' and name.given.exclude('Bo') = 'Ann'",
  "name.given.combine(name.given).count() = 4 and name.given.union('Bo').count() = 2 and (1 | 1).count() = 1",
  "name.last().family.extension('http://e').value = 'c'",
  // Conversion
  "iif(gender = 'male', 'm', 'f') = 'm' and iif({}, 1).empty() and iif(active, 1, 2) = 1",
  "active.toInteger() = 1 and '7'.toInteger() = 7 and 'x'.toInteger().empty() and '7'.convertsToInteger()",
  "active.toString() = 'true' and 1.toString() = '1' and 0.0.toString() = '0.0' and 1.convertsToString()",
  "'1.5'.toDecimal() = 1.5 and '1.5'.convertsToDecimal()",
  "'true'.toBoolean() and 'no'.convertsToBoolean()",
  "'2020-01-01'.toDate() = @2020-01-01 and '2020'.convertsToDate()",
  "'2020-01-01T10:00:00Z'.toDateTime() = @2020-01-01T10:00:00Z and '2020'.convertsToDateTime()",
  "'10:00'.toTime() = @T10:00 and '10:00'.convertsToTime()",
  "'4 days'.toQuantity() = 4 days and '4'.convertsToQuantity()",
  // Texts
  "gender.startsWith('ma') and gender.endsWith('le') and gender.contains('al') and gender.matches('^m.*e$')",
  "gender.matchesFull('m.*') and gender.indexOf('l') = 2 and gender.lastIndexOf('e') = 3",
  "gender.substring(1, 2) = 'al' and gender.upper() = 'MALE' and 'A'.lower() = 'a' and ' a '.trim() = 'a'",
  'gender.length() = 4',
  // Numbers
  '(-1).abs() = 1 and 1.2.ceiling() = 2 and 1.8.floor() = 1 and 1.5.round() = 2 and 1.8.truncate() = 1',
  '(1 | 2).sum() = 3 and (1 | 2).min() = 1 and (1 | 2).max() = 2 and (1 | 3).avg() = 2',
  // Times
  'now() > @2020 and today() > @2020 and timeOfDay().exists()',
  'birthDate.yearOf() = 1980 and birthDate.monthOf() = 2 and birthDate.dayOf() = 29',
  '@2020-01-02T03:04:05Z.dateOf() = @2020-01-02 and now().timeOf().exists()',
  '@T03:04:05.hourOf() = 3 and @T03:04:05.minuteOf() = 4 and @T03:04:05.secondOf() = 5',
  // Elements
  "active.hasValue() and gender.getValue() = 'male' and %resource.type().name = 'Patient'",
  "children().exists() and descendants().exists() and %context.name.exists() and $this.gender = 'male'",
  'managingOrganization.resolve().empty()',
  "%current.gender = 'male' and %previous.empty() and %ucum = 'http://unitsofmeasure.org'",
];

const change = { current: JSON.stringify(current), previous: undefined, values: { current, previous: undefined } };

function nodesOf(expression: Expression): readonly Expression[] {
  return [expression, ...childNodesOf(expression).flatMap(nodesOf)];
}

describe('FHIRPath', () => {
  it.each(TRUE)('D9: both back ends agree on %s', (text) => {
    const [own, library] = [compileCriterion(text, 'Patient'), libraryCriterion(text)];
    expect([own.matches(change, () => undefined), library.matches(change, () => undefined)]).toEqual([true, true]);
  });

  it('D9: has a case for every function and every operator', () => {
    const nodes = TRUE.flatMap((text) => nodesOf(parseExpression(text)));
    const called = new Set(nodes.flatMap((node) => (node.kind === 'call' ? [node.name] : [])));
    const operators = new Set(nodes.flatMap((node) => (node.kind === 'binary' ? [node.operator] : [])));
    expect(allowedFunctions('criterion').filter((name) => !called.has(name))).toEqual([]);
    expect(Object.keys(BINDING_POWER).filter((name) => !operators.has(name as keyof typeof BINDING_POWER))).toEqual([]);
  });

  it.each([
    ["name.first().family + '!' = 'Lee!'", true],
    ["iif(gender = 'male', 'm', 'f') = 'm'", true],
    ["iif(gender = 'male', active, name.exists())", true],
    ['active.toInteger() = 1', true],
    ["0.0.toString() = '0.0'", true],
    ["iif(gender = 'female', true, false)", false],
  ])('D9: evaluates the invariant %s to %s', (expression, answer) => {
    const truth = compileInvariant(expression, 'Patient', 'Patient');
    expect(truth(current, { resource: current, rootResource: current, context: current })).toBe(answer);
  });

  it.each([
    ["name.where(use = 'official').family = 'Lee'", 'compiled'],
    ['%current.gender != %previous.gender', 'compiled'],
    ["name.first().family + '!' = 'Lee!'", 'compiled'],
    ["iif(gender = 'male', 'm', 'f') = 'm'", 'compiled'],
    ['active.toInteger() = 1', 'compiled'],
    ["0.0.toString() = '0.0'", 'left to the library'],
    ['birthDate < @1981', 'left to the library'],
    ['0.1 + 0.2 = 0.3', 'left to the library'],
  ])('the expression %s is %s', (expression, by) => {
    expect(compileCriterion(expression, 'Patient').cost < Infinity ? 'compiled' : 'left to the library').toBe(by);
  });

  it('keeps the extensions of primitives apart from their values', () => {
    const other = { ...current, _active: { id: 'a2' } };
    const changed = {
      current: JSON.stringify(current),
      previous: JSON.stringify(other),
      values: { current, previous: other },
    };
    for (const make of [(text: string) => compileCriterion(text, 'Patient'), libraryCriterion]) {
      expect(make('%current.active = %previous.active').matches(changed, () => undefined)).toBe(false);
      expect(make('%previous.active = true').matches(changed, () => undefined)).toBe(true);
    }
  });

  it('writes nothing of a resource to the console', () => {
    const { warn } = console;
    const lines: unknown[] = [];
    console.warn = (...line: unknown[]) => lines.push(line);
    try {
      compileCriterion('(birthDate + 7.7 days).exists()', 'Patient').matches(change, () => undefined);
    } finally {
      console.warn = warn;
    }
    expect(lines).toEqual([]);
  });
});
