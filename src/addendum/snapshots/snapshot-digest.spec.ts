import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { compactJson } from '../../platform/json/compact-json';
import { jsonText } from '../../../test/support/json-text';
import { canonicalText, parseLossless } from '../../../test/support/lossless-text';
import { snapshotDigestOf } from './snapshot-digest';

function digestOf(text: string): string {
  const steps = snapshotDigestOf(compactJson(text));
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value.toString('hex');
  }
}

function expectedOf(text: string): string {
  const value = parseLossless(text);
  if (value instanceof Map) value.delete('meta');
  return createHash('sha256').update(canonicalText(value)).digest('hex');
}

describe(snapshotDigestOf.name, () => {
  it('equals the hash of the canonical text without meta', () => {
    fc.assert(
      fc.property(jsonText, jsonText, (first, second) => {
        const text = `{"z":${first},"meta":${second},"a":{"meta":${second}},"":${first}}`;
        expect(digestOf(text)).toBe(expectedOf(text));
      }),
    );
  });

  it.each([
    ['an empty object', '{}'],
    ['meta alone', '{"meta":{"versionId":"1"}}'],
    ['escapes', '{"b\\u0061":"\\u00e9\\/","a":"\\n"}'],
    [
      '5,000 members in reverse order',
      `{${Array.from({ length: 5000 }, (_, index) => `"${5000 - index}":${index}`).join(',')}}`,
    ],
    ['100,000 elements', `{"a":[${'1.0,'.repeat(100_000)}{"b":[],"a":{}}]}`],
    ['60 levels', `{"a":${'{"b":['.repeat(30)}1${']}'.repeat(30)}}`],
  ])('equals the hash of the canonical text of %s', (_what, text) => {
    expect(digestOf(text)).toBe(expectedOf(text));
  });
});
