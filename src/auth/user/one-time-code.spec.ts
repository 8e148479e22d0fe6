import { describe, expect, it } from '@jest/globals';
import { base32Bytes, codeAt, stepOf } from './one-time-code';

/** The key of the test vectors in RFC 6238, appendix B, and RFC 4226, appendix D: "12345678901234567890" in base32. */
const KEY = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
const at = (seconds: number): Date => new Date(seconds * 1000);

describe(codeAt, () => {
  it.each([
    [0, '755224'],
    [1, '287082'],
    [9, '520489'],
    [Math.floor(1_111_111_109 / 30), '081804'],
    [Math.floor(2_000_000_000 / 30), '279037'],
  ])('returns for step %d the code %s (RFC 4226, appendix D; RFC 6238, appendix B)', (step, code) => {
    expect(codeAt(step, base32Bytes(KEY) ?? Buffer.alloc(0))).toBe(code);
  });
});

describe(stepOf, () => {
  it('accepts the current code and the codes of the steps before and after', () => {
    const found = [30, 59, 60, 89, 90, 120].map((seconds) => stepOf('287082', KEY, at(seconds)));
    expect(found).toEqual([1, 1, 1, 1, undefined, undefined]);
  });

  it.each(['287083', '28708', '2870821', ' 287082', '２８７０８２', ''])('refuses the code "%s"', (code) => {
    expect(stepOf(code, KEY, at(30))).toBeUndefined();
  });

  it.each(['', 'short', 'not base32!', '0189', 'A'.repeat(257)])('accepts no code for the key "%s"', (key) => {
    expect(stepOf('287082', key, at(30))).toBeUndefined();
  });

  it('accepts spaces and lower case in a key', () => {
    expect(stepOf('287082', 'gezd gnbv gy3t qojq gezd gnbv gy3t qojq', at(30))).toBe(1);
  });
});
