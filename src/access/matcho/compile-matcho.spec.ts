import { describe, expect, it } from '@jest/globals';
import { type RequestObject } from '../request/access-request';
import { compileMatcho } from './compile-matcho';

const BASE_URL = 'http://svc.example';

/** Returns the path at which `resource` fails the pattern; undefined when it matches. */
const failureOf = (pattern: unknown, resource: unknown, rest: RequestObject = {}): string | undefined =>
  compileMatcho({ resource: pattern }, 'matcho', BASE_URL).match({ ...rest, resource })?.path;

const faultOf = (matcho: unknown): string => {
  try {
    compileMatcho(matcho, 'matcho', BASE_URL);
    return 'none';
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
};

describe(compileMatcho, () => {
  it.each<[string, unknown, unknown]>([
    ['equal texts', 'a', 'a'],
    ['equal numbers', 5, 5],
    ['equal booleans', false, false],
    ['objects with more members', { a: { b: 5 } }, { a: { b: 5, c: 6 }, d: 7 }],
    ['lists with more items', [1, 2], [1, 2, 3]],
    ['items by position', [{ a: 1 }], [{ a: 1, b: 2 }, 'x']],
    ['an expression anywhere', '#\\d+', 'ab12c'],
    ['an anchored expression', '#^/fhir/Patient(/[\\w-]+)?$', '/fhir/Patient/p-1'],
    ['a present value', { a: 'present?' }, { a: false }],
    ['an absent value', { a: 'nil?', b: 'nil?', c: null }, { a: null, c: null }],
    ['a text that is not blank', { a: 'not-blank?' }, { a: 'x' }],
    ['one of values', { $enum: ['a', 5, true] }, 5],
    ['one of patterns', { '$one-of': [{ b: 'present?' }, { c: 'present?' }] }, { c: 5 }],
    [
      'a list with a match',
      { type: { $contains: { system: 'loinc' } } },
      { type: [{ system: 's' }, { system: 'loinc' }] },
    ],
    ['a list of matches', { $every: { foo: 'bar' } }, [{ foo: 'bar' }, { foo: 'bar', baz: 1 }]],
    ['a value that the negated pattern does not match', { $not: { status: 'private' } }, { status: 'public' }],
    ['a FHIR reference', { $reference: { resourceType: 'Patient', id: 'p7' } }, { reference: 'Patient/p7' }],
    ['a native reference', { $reference: { id: 'p7' } }, { resourceType: 'Patient', id: 'p7' }],
    ['a reference as a text', { $reference: { id: 'p7' } }, 'Patient/p7'],
    ['a reference by URL', { $reference: { id: 'p7' } }, { reference: `${BASE_URL}/fhir/Patient/p7` }],
    ['a list with all required items', { '$present-all': [{ a: 2 }, { a: 1 }], $length: 2 }, [{ a: 1 }, { a: 2 }]],
  ])('matches %s', (_case, pattern, value) => {
    expect(failureOf(pattern, value)).toBeUndefined();
  });

  it.each<[string, unknown, unknown, string]>([
    ['other texts', 'a', 'b', ''],
    ['a number as a text', 5, '5', ''],
    ['a missing member', { z: 1 }, { x: 1 }, '.z'],
    ['a member with another parent', { a: { b: 5 } }, { b: { a: 5 } }, '.a'],
    ['another order', [1, 2], [2, 1], '[0]'],
    ['too few items', [1, 2], [1], ''],
    ['a list for an object', { 0: 1 }, [1], ''],
    ['an object for a list', [1], { 0: 1 }, ''],
    ['null for an object', { a: 'nil?' }, null, ''],
    ['an expression without a match', { a: '#^\\d+$' }, { a: '12x' }, '.a'],
    ['an expression in a number', { a: '#1' }, { a: 1 }, '.a'],
    ['an expression in a list', { a: '#1' }, { a: ['1'] }, '.a'],
    ['null as present', { a: 'present?' }, { a: null }, '.a'],
    ['a present value as nil', { a: 'nil?' }, { a: 0 }, '.a'],
    ['a blank text', { a: 'not-blank?' }, { a: ' ' }, '.a'],
    ['a number as a text that is not blank', { a: 'not-blank?' }, { a: 5 }, '.a'],
    ['a value outside the enumeration', { $enum: ['get', 'post'] }, 'put', '.$enum'],
    ['none of the patterns', { a: { '$one-of': [{ b: 1 }, { c: 1 }] } }, { a: { b: 2, c: 2 } }, '.a.$one-of'],
    ['a list without a match', { $contains: 'x' }, ['y'], '.$contains'],
    ['a text in place of a list', { $contains: 'x' }, 'x', '.$contains'],
    ['a list with an item that differs', { $every: { a: 1 } }, [{ a: 1 }, { a: 2 }], '.$every.a'],
    ['no list at all', { $every: { a: 1 } }, undefined, '.$every'],
    ['a value that the negated pattern matches', { $not: { a: 1 } }, { a: 1, b: 2 }, '.$not'],
    [
      'a reference to another server',
      { $reference: { id: 'p7' } },
      { reference: 'http://other/fhir/Patient/p7' },
      '.$reference',
    ],
    ['another reference', { $reference: { id: 'p7' } }, { reference: 'Patient/p8' }, '.$reference.id'],
    ['no reference', { $reference: { $not: { id: 'p7' } } }, { display: 'x' }, '.$reference'],
    ['a list without a required item', { '$present-all': [{ a: 1 }, { a: 2 }] }, [{ a: 1 }], '.$present-all[1]'],
    ['another length', { $length: 1 }, [1, 2], '.$length'],
    ['the length of a text', { $length: 1 }, 'x', '.$length'],
    ['a member that every object inherits', { constructor: 'present?' }, {}, '.constructor'],
  ])('does not match %s', (_case, pattern, value, at) => {
    expect(failureOf(pattern, value)).toBe(`matcho.resource${at}`);
  });

  describe('a path into the request', () => {
    const user = { id: 'u1', data: { patients: ['p1', 'p2'], ward: null } };

    it('must resolve to an equal value', () => {
      expect(failureOf({ owner: '.user.id' }, { owner: 'u1' }, { user })).toBeUndefined();
      expect(failureOf({ owner: '.user.id' }, { owner: 'u2' }, { user })).toBe('matcho.resource.owner');
      expect(failureOf({ all: '.user.data.patients' }, { all: ['p1', 'p2'] }, { user })).toBeUndefined();
      expect(failureOf({ all: '.user.data.patients' }, { all: ['p2', 'p1'] }, { user })).toBe('matcho.resource.all');
      expect(failureOf({ one: '.user.data.patients.1' }, { one: 'p2' }, { user })).toBeUndefined();
      expect(
        failureOf({ type: '.params.resource/type' }, { type: 'Ward' }, { params: { 'resource/type': 'Ward' } }),
      ).toBeUndefined();
    });

    it('that resolves to nothing equals a missing value, so policies pair it with present?', () => {
      expect(failureOf({ ward: '.user.data.ward' }, {}, { user })).toBeUndefined();
      expect(failureOf({ ward: '.user.data.ward' }, { ward: 'w1' }, { user })).toBe('matcho.resource.ward');
      const paired = compileMatcho(
        { user: { data: { ward: 'present?' } }, resource: { ward: '.user.data.ward' } },
        'matcho',
        BASE_URL,
      );
      expect(paired.match({ user, resource: {} })?.path).toBe('matcho.user.data.ward');
    });

    it('adds the parts that it reads', () => {
      const { parts } = compileMatcho({ uri: '#x', $not: { params: { a: '.user.id' } } }, 'matcho', BASE_URL);
      expect([...parts].sort()).toEqual(['params', 'uri', 'user']);
    });
  });

  it.each<[string, unknown, string]>([
    ['nothing', undefined, 'AccessPolicy.matcho must be an object'],
    ['an empty pattern', {}, 'AccessPolicy.matcho must be an object'],
    ['a list', [{}], 'AccessPolicy.matcho must be an object'],
    ['an unknown part', { usr: { id: 1 } }, 'AccessPolicy.matcho.usr is no part'],
    [
      'an unknown part in an alternative',
      { '$one-of': [{ uri: 'x' }, { url: 'x' }] },
      'AccessPolicy.matcho.$one-of[1].url is no part',
    ],
    ['an unknown operator', { uri: { $in: ['x'] } }, 'AccessPolicy.matcho.uri.$in is unknown'],
    [
      '$one-of next to other members',
      { params: { a: 1, '$one-of': [{ b: 1 }] } },
      'AccessPolicy.matcho.params has other members next to $one-of',
    ],
    ['a misspelt word', { user: 'presnt?' }, 'AccessPolicy.matcho.user is "presnt?"'],
    ['a path to an unknown part of the request', { uri: '.usr.id' }, 'AccessPolicy.matcho.uri refers to "usr"'],
    ['an empty $enum', { uri: { $enum: [] } }, 'AccessPolicy.matcho.uri.$enum takes a list'],
    ['patterns in $enum', { uri: { $enum: [{ a: 1 }] } }, 'AccessPolicy.matcho.uri.$enum takes texts'],
    ['a negative length', { body: { $length: -1 } }, 'AccessPolicy.matcho.body.$length takes'],
    ['a broken expression', { uri: '#(' }, 'AccessPolicy.matcho.uri is no regular expression'],
    ['look-around', { uri: '#(?=x)' }, 'AccessPolicy.matcho.uri is no regular expression'],
    ['back-references', { uri: '#(a)\\1' }, 'AccessPolicy.matcho.uri is no regular expression'],
    ['an expression that is too long', { uri: `#${'a'.repeat(513)}` }, 'AccessPolicy.matcho.uri has more than 512'],
    ['an expression that repeats too much', { uri: '#(a{100}){10}' }, 'AccessPolicy.matcho.uri repeats too much'],
    [
      'a pattern that is too large',
      { body: Array.from({ length: 2001 }, () => 1) },
      'AccessPolicy.matcho.body[1998] is too large',
    ],
  ])('refuses %s', (_case, matcho, message) => {
    expect(faultOf(matcho)).toContain(message);
  });

  it('grants nothing if the comparison takes too long, even if the pattern negates', () => {
    const items = Array.from({ length: 300_000 }, (_, i) => i);
    expect(failureOf({ $contains: 'x' }, items)).toBe('matcho');
    expect(failureOf({ $not: { $contains: 'x' } }, items)).toBe('matcho');
    expect(failureOf({ $not: '#^(a+)+$' }, 'a'.repeat(1_000_000))).toBe('matcho');
  });

  it.each(['^(a+)+$', '^(a|a)*$', '^(a|aa)+$', '(.*a){20}', '^(([a-z])+.)+[A-Z]([a-z])+$', '(a?){50}a{50}'])(
    'evaluates %s on a hostile text in less than 1.5 s of CPU time',
    (expression) => {
      const started = process.cpuUsage();
      failureOf(`#${expression}`, `${'a'.repeat(5000)}!`);
      const { user, system } = process.cpuUsage(started);
      expect((user + system) / 1000).toBeLessThan(1500);
    },
  );
});
