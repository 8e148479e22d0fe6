import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { anyText } from '../../../test/support/any-text';
import { compactJson } from './compact-json';
import { type ErrorCode } from '../errors/error-codes';
import { JsonBodyError } from './json-body-error';

/** JSON as tokens, each in one of its possible spellings. */
type Tokens = string | Tokens[] | { readonly members: readonly (readonly [keyToken: string, value: Tokens])[] };

const stringToken = fc.oneof(
  anyText().map((text) => JSON.stringify(text.replaceAll('\0', ''))),
  fc.constantFrom(
    '""',
    '"\\u0061\\/"',
    '"\\ud83d\\ude00"',
    '"\\\\"',
    '"\\\\\\""',
    '" { [ , : "',
    '"\u2028é😀"',
    '"\\n"',
  ),
);
/** Keys as tokens, without the forbidden keys, which fast-check generates often. */
const keyToken = stringToken.filter(
  (token) => !['__proto__', 'constructor', 'prototype'].includes(JSON.parse(token) as string),
);
const numberToken = fc.stringMatching(/^-?(0|[1-9]\d{0,20})(\.\d{1,12})?([eE][+-]?\d{1,2})?$/);
const { tokens } = fc.letrec<{ tokens: Tokens }>((tie) => ({
  tokens: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(stringToken, numberToken, fc.constantFrom('true', 'false', 'null')),
    fc.array(tie('tokens')),
    fc
      .uniqueArray(fc.tuple(keyToken, tie('tokens')), { selector: ([key]) => JSON.parse(key) as string })
      .map((members) => ({ members })),
  ),
}));

function printed(value: Tokens, space = ''): string {
  const joined = (parts: readonly string[]): string => parts.join(`${space},${space}`);
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return `[${space}${joined(value.map((element) => printed(element, space)))}${space}]`;
  const members = value.members.map(([key, member]) => `${key}${space}:${space}${printed(member, space)}`);
  return `{${space}${joined(members)}${space}}`;
}

function refusalOf(text: string): JsonBodyError | undefined {
  try {
    compactJson(text);
    return undefined;
  } catch (error) {
    if (error instanceof JsonBodyError) return error;
    throw error;
  }
}

const codeOf = (text: string): ErrorCode | undefined => refusalOf(text)?.details.code;

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe(compactJson.name, () => {
  it('removes white space outside strings and keeps every other character', () => {
    const space = fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\r'), maxLength: 3 });
    fc.assert(
      fc.property(tokens, space, (value, around) => {
        expect(compactJson(around + printed(value, around) + around)).toBe(printed(value));
      }),
    );
  });

  it('agrees with JSON.parse about which text is JSON, whichever character changes', () => {
    const change = fc.tuple(
      fc.nat(),
      fc.nat({ max: 1 }),
      fc.string({
        unit: fc.constantFrom(
          '{',
          '}',
          '[',
          ']',
          '"',
          ',',
          ':',
          '\\',
          'u',
          '0',
          '1',
          '9',
          '.',
          'e',
          'E',
          '+',
          '-',
          't',
          'n',
          ' ',
          '\n',
          '\u0001',
          'é',
        ),
        maxLength: 2,
      }),
    );
    fc.assert(
      fc.property(tokens, change, (value, [position, deleted, inserted]) => {
        const text = printed(value, ' ');
        const at = position % text.length;
        const changed = text.slice(0, at) + inserted + text.slice(at + deleted);
        const code = codeOf(changed);
        expect(parses(changed) ? code !== 'body-malformed' : code !== undefined).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it.each<[ErrorCode, string, string]>([
    ['body-malformed', '', 'Malformed JSON: expected a value (line 1, column 1)'],
    ['body-malformed', ' ', 'Malformed JSON: expected a value (line 1, column 2)'],
    ['body-malformed', '\ufeff{}', 'Malformed JSON: expected a value (line 1, column 1)'],
    ['body-malformed', '{} {}', 'Malformed JSON: expected end of text (line 1, column 4)'],
    ['body-malformed', '{"a":1,}', 'Malformed JSON: expected a key in quotes (line 1, column 8)'],
    ['body-malformed', "{'a':1}", 'Malformed JSON: expected a key in quotes (line 1, column 2)'],
    ['body-malformed', '{"a" 1}', "Malformed JSON: expected ':' (a, line 1, column 6)"],
    ['body-malformed', '{\n "a": [\n  1 2]}', "Malformed JSON: expected ',' or ']' (a[0], line 3, column 5)"],
    ['body-malformed', '{"a":1]', "Malformed JSON: expected ',' or '}' (a, line 1, column 7)"],
    ['body-malformed', '[1,]', 'Malformed JSON: expected a value ([1], line 1, column 4)'],
    ['body-malformed', '[1', "Malformed JSON: expected ',' or ']' ([0], line 1, column 3)"],
    ['body-malformed', '"ab', 'Malformed JSON: expected the rest of a string (line 1, column 4)'],
    ['body-malformed', '"a\nb"', 'Malformed JSON: expected the rest of a string (line 1, column 3)'],
    ['body-malformed', '"\\x"', 'Malformed JSON: expected an escape that JSON knows (line 1, column 2)'],
    ['body-malformed', '"\\u12g4"', 'Malformed JSON: expected four hexadecimal digits (line 1, column 2)'],
    ['body-malformed', 'tru', 'Malformed JSON: expected a value (line 1, column 1)'],
    ['body-malformed', 'NaN', 'Malformed JSON: expected a value (line 1, column 1)'],
    ['body-malformed', '01', 'Malformed JSON: expected end of text (line 1, column 2)'],
    ['body-malformed', '-', 'Malformed JSON: expected a digit (line 1, column 2)'],
    ['body-malformed', '1.', 'Malformed JSON: expected a digit (line 1, column 3)'],
    ['body-malformed', '1e+', 'Malformed JSON: expected a digit (line 1, column 4)'],
    ['body-duplicate-key', '{"a":1,"a":1}', 'Duplicate key (a, line 1, column 8)'],
    ['body-duplicate-key', '{"b":[{},{"a":1,"\\u0061":2}]}', 'Duplicate key (b[1].a, line 1, column 17)'],
    ['body-duplicate-key', '{"":1,"":2}', 'Duplicate key (line 1, column 7)'],
    ['body-forbidden-key', '{"__proto__":{}}', 'Key that is not allowed (__proto__, line 1, column 2)'],
    ['body-forbidden-key', '{"a":{"constructor":1}}', 'Key that is not allowed (a.constructor, line 1, column 7)'],
    ['body-forbidden-key', '[{"\\u0070rototype":1}]', 'Key that is not allowed ([0].prototype, line 1, column 3)'],
    ['body-forbidden-text', '{"a":"x\\u0000"}', 'U+0000 in a string (a, line 1, column 8)'],
    ['body-forbidden-text', '{"\\u0000":1}', 'U+0000 in a string (line 1, column 3)'],
    ['body-forbidden-text', '{"a":1,"\\u0000":1}', 'U+0000 in a string (line 1, column 9)'],
    ['body-forbidden-text', '"\\ud83d"', 'Half of a surrogate pair in a string (line 1, column 2)'],
    ['body-forbidden-text', '"\\uDE00\\ud83d"', 'Half of a surrogate pair in a string (line 1, column 2)'],
    ['body-forbidden-text', '"\\ud83d\\u0041"', 'Half of a surrogate pair in a string (line 1, column 2)'],
    ['body-forbidden-text', '"\\ud83d\\ud83d\\ude00"', 'Half of a surrogate pair in a string (line 1, column 2)'],
    ['body-forbidden-text', '"\ud83d"', 'Half of a surrogate pair in a string (line 1, column 2)'],
    ['body-forbidden-text', '"\ude00"', 'Half of a surrogate pair in a string (line 1, column 2)'],
    ['body-forbidden-text', '"\ud83d\\ude00"', 'Half of a surrogate pair in a string (line 1, column 2)'],
    [
      'body-too-deep',
      '['.repeat(65) + ']'.repeat(65),
      'Deeper than 64 levels: nest less ([0][0][0][0]…[0][0][0][0], line 1, column 65)',
    ],
    ['body-number-too-long', `{"a":${'1'.repeat(41)}}`, 'Number longer than 40 characters (a, line 1, column 6)'],
    ['body-number-too-long', `0.${'0'.repeat(39)}`, 'Number longer than 40 characters (line 1, column 1)'],
    ['body-number-too-long', '1e401', 'Exponent beyond ±400 (line 1, column 1)'],
    ['body-number-too-long', '[1E-401]', 'Exponent beyond ±400 ([0], line 1, column 2)'],
  ])('refuses as %s: %j', (code, text, message) => {
    expect([codeOf(text), refusalOf(text)?.message]).toEqual([code, message]);
  });

  it.each([
    '['.repeat(64) + ']'.repeat(64),
    '1'.repeat(40),
    '-1.5E+400',
    '1e-400',
    '[{"a":1},{"a":1}]',
    '{"a":{"a":{"a":1}}}',
    '{"Constructor":1,"proto":2,"toString":3}',
    '["__proto__","constructor","prototype"]',
    '"\\ud83d\\ude00😀\uffff"',
    '"\u007f\u2028"',
  ])('accepts %j', (text) => {
    expect(compactJson(text)).toBe(text);
  });

  it('applies the given depth limit', () => {
    expect(() => compactJson('[[1]]', 1)).toThrow('Deeper than 1 levels');
  });

  it('never repeats a value or an unusual key in a message', () => {
    const refusals = ['{"a":"Jane Doe" "b"}', '{"Jane Doe":{"a":1,"a":1}}', '"Jane Doe\\u0000"', '"Jane Doe'].map(
      refusalOf,
    );
    expect(refusals.map((refusal) => refusal?.message)).toEqual([
      "Malformed JSON: expected ',' or '}' (a, line 1, column 17)",
      'Duplicate key (*.a, line 1, column 20)',
      'U+0000 in a string (line 1, column 10)',
      'Malformed JSON: expected the rest of a string (line 1, column 10)',
    ]);
  });

  describe('on hostile text', () => {
    const million = 1_000_000;
    const keys = Array.from({ length: 100_000 }, (_, index) => `"k${index}":${index}`).join(',');

    it('refuses a depth of 100,000, and reads it without recursion if the limit allows it', () => {
      const depth = 100_000;
      const text = '['.repeat(depth) + ']'.repeat(depth);
      expect(codeOf(text)).toBe('body-too-deep');
      expect(compactJson(text, depth) === text).toBe(true);
    });

    it('reads a million empty arrays and objects', () => {
      const text = `[${'[ ],{ },'.repeat(million / 2 - 1)}1]`;
      expect(compactJson(text) === text.replaceAll(' ', '')).toBe(true);
    });

    it('finds the only duplicate among 100,000 keys', () => {
      expect(refusalOf(`{${keys}}`)).toBeUndefined();
      expect(codeOf(`{${keys.replace('"k1"', '"k0"')}}`)).toBe('body-duplicate-key');
    });

    it('reads 20 MB of string, escapes or white space, and a million numbers', () => {
      const size = 20 * 1024 * 1024;
      const texts = [`"${'x'.repeat(size)}"`, `"${'\\"'.repeat(size / 2)}"`];
      for (const text of texts) expect(compactJson(text) === text).toBe(true);
      expect(compactJson(`[${' '.repeat(size)}]`)).toBe('[]');
      const numbers = `[${' 1 ,'.repeat(million - 2)}1]`;
      expect(compactJson(numbers) === numbers.replaceAll(' ', '')).toBe(true);
    });

    it('refuses more values or members than the limit', () => {
      const refusal = (message: string): object => ({
        details: { code: 'body-too-many-values' },
        message: expect.stringMatching(message) as unknown,
      });
      for (const value of ['[]', '{}', '1', '""']) {
        expect(refusalOf(`[${`${value},`.repeat(million)}1]`)).toMatchObject(refusal('^More than 1000000 values \\('));
      }
      expect(refusalOf(`{${keys},"one":1}`)).toMatchObject(refusal('^Object of more than 100000 members \\('));
    });

    it('reports line and column at the end of a million lines', () => {
      expect(refusalOf('\n'.repeat(million))?.place).toEqual({ path: '', line: million + 1, column: 1 });
    });
  });
});
