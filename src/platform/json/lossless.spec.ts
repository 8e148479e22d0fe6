import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { anyText } from '../../../test/support/any-text';
import { canonicalText, parseLossless, printLossless } from '../../../test/support/lossless-text';
import { JsonBodyError } from './json-body-error';
import { atOnce } from '../time/steps';
import { JsonNumber, type JsonValue, parseStoredInSteps } from './lossless';

const forbiddenKeys = ['__proto__', 'constructor', 'prototype'];
const text = anyText().map((sent) => sent.replaceAll('\0', ''));
const key = fc.oneof(
  fc.constantFrom('0', '1', '10', '', 'a', 'a.b', 'toString', 'length'),
  text.filter((sent) => !forbiddenKeys.includes(sent)),
);
const number = fc.oneof(
  fc.constantFrom('0', '-0', '1.0', '1.00', '1e2', '1E2', '100', '9007199254740993', '1e-400', '0.10'),
  fc.stringMatching(/^-?(0|[1-9]\d{0,20})(\.\d{1,12})?([eE][+-]?\d{1,2})?$/),
);
const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(
      text,
      fc.boolean(),
      fc.constant(null),
      number.map((digits) => new JsonNumber(digits)),
    ),
    fc.array(tie('value')),
    fc.uniqueArray(fc.tuple(key, tie('value')), { selector: ([name]) => name }).map((members) => new Map(members)),
  ),
}));

function reversed(original: JsonValue): JsonValue {
  if (Array.isArray(original)) return original.map(reversed);
  if (!(original instanceof Map)) return original;
  return new Map(Array.from(original, ([name, member]) => [name, reversed(member)] as const).reverse());
}

describe('lossless JSON', () => {
  it('reads back the printed text with the same digits, key order and strings', () => {
    fc.assert(
      fc.property(value, (original) => {
        const printed = printLossless(original);
        expect(parseLossless(printed)).toEqual(original);
        expect(printLossless(parseLossless(printed))).toBe(printed);
        expect(JSON.stringify(JSON.parse(printed))).toBe(JSON.stringify(plain(original)));
      }),
    );
  });

  it.each(['1.10', '-0', '1E400', '123456789012345678901234567890', '{"10":1,"9":2.0,"a":0.10}', '[[],{},[[1.0]]]'])(
    'keeps %s',
    (sent) => {
      expect(printLossless(parseLossless(sent))).toBe(sent);
    },
  );

  it.each(['{', '[', '{"a":1', '[1', '[1,', '{"a":"x', '{"a"'])('stops at the end of a truncated text: %s', (text) => {
    expect(() => atOnce(parseStoredInSteps(text))).toThrow(SyntaxError);
  });

  it('reads escapes and white space', () => {
    expect(parseLossless(' { "\\u0061\\n" : [ "\\ud83d\\ude00\\/" , true , false , null ] } ')).toEqual(
      new Map([['a\n', ['😀/', true, false, null]]]),
    );
  });

  it.each(['{"a":1,"a":1}', '{"__proto__":1}', '['.repeat(100_000), '1.', ''])('refuses %.20s', (sent) => {
    expect(() => parseLossless(sent)).toThrow(JsonBodyError);
  });
});

describe(canonicalText.name, () => {
  it('is equal for any order of keys', () => {
    fc.assert(
      fc.property(value, (original) => {
        expect(canonicalText(reversed(original))).toBe(canonicalText(original));
      }),
    );
  });

  it('differs for any other difference', () => {
    fc.assert(
      fc.property(value, value, (one, other) => {
        expect(canonicalText(one) === canonicalText(other)).toBe(isDeepStrictEqual(one, other));
      }),
      { numRuns: 1000 },
    );
  });

  it('sorts keys by UTF-16 code unit and leaves numbers as written', () => {
    expect(canonicalText(parseLossless('{"\uffff":1.0,"😀":1.00,"b":{"10":1,"9":2},"B":[2,1],"":-0}'))).toBe(
      '{"":-0,"B":[2,1],"b":{"10":1,"9":2},"😀":1.00,"\uffff":1.0}',
    );
  });
});

function plain(original: JsonValue): unknown {
  if (original instanceof JsonNumber) return Number(original.text);
  if (Array.isArray(original)) return original.map(plain);
  return original instanceof Map
    ? Object.fromEntries(Array.from(original, ([name, member]) => [name, plain(member)]))
    : original;
}
