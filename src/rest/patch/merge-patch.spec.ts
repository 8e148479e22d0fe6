import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parse, stringify } from 'lossless-json';
import { atOnce } from '../../platform/time/steps';
import { compileMergePatch } from './merge-patch';
import { jsonText } from '../../../test/support/json-text';
import { parseLossless, printLossless } from '../../../test/support/lossless-text';

const merge = (original: string, patch: string): string =>
  printLossless(atOnce(compileMergePatch(parseLossless(patch))(parseLossless(original))));

describe(compileMergePatch.name, () => {
  // The cases of RFC 7396, appendix A.
  it.each([
    ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
    ['{"a":"b"}', '{"a":null}', '{}'],
    ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
    ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
    ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
    ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
    ['["a","b"]', '["c","d"]', '["c","d"]'],
    ['{"a":"b"}', '["c"]', '["c"]'],
    ['{"a":"foo"}', 'null', 'null'],
    ['{"a":"foo"}', '"bar"', '"bar"'],
    ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
    ['[1,2]', '{"a":"b","c":null}', '{"a":"b"}'],
    ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
  ])('patches %s by %s to %s', (original, patch, result) => {
    expect(merge(original, patch)).toBe(result);
  });

  it('keeps the digits of patched and unpatched numbers', () => {
    expect(merge('{"a":1.10,"b":{"c":2.50,"d":1e2}}', '{"b":{"d":3.00,"e":[0.10]}}')).toBe(
      '{"a":1.10,"b":{"c":2.50,"d":3.00,"e":[0.10]}}',
    );
  });

  it('compiles a patch that can be applied several times', () => {
    const patch = compileMergePatch(parseLossless('{"a":{"b":[1]}}'));
    const once = atOnce(patch(atOnce(patch(parseLossless('{"c":1}')))));
    expect([printLossless(once), printLossless(atOnce(patch(parseLossless('{}'))))]).toEqual([
      '{"c":1,"a":{"b":[1]}}',
      '{"a":{"b":[1]}}',
    ]);
  });

  it('returns the same result as the pseudo code of RFC 7396', () => {
    fc.assert(
      fc.property(jsonText, jsonText, (original, patch) => {
        expect(merge(original, patch)).toBe(stringify(merged(parse(original), parse(patch))));
      }),
    );
  });
});

type Members = Record<string, unknown>;
const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

function merged(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const result: Members = isObject(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value !== null) result[name] = merged(result[name], value);
    else Reflect.deleteProperty(result, name);
  }
  return result;
}
