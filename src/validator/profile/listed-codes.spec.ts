import { describe, expect, it } from '@jest/globals';
import { listedCodesOf } from './listed-codes';

describe(listedCodesOf, () => {
  it.each(['http://loinc.org', 'constructor', '__proto__'])('reads the codes of the system %s', (system) => {
    const contains = [{ system, code: 'a' }];
    const include = [{ system, concept: [{ code: 'a' }] }];
    for (const valueSet of [{ expansion: { contains } }, { compose: { include } }])
      expect(listedCodesOf('urn:set', valueSet)?.hasCoding(system, 'a')).toBe(true);
  });
});
