import { describe, expect, it } from '@jest/globals';
import { SearchParameterSet } from '../../search-index/extract/search-parameter-set';
import { impliedCodesOf } from './implied-system';

describe(impliedCodesOf, () => {
  const gender = new SearchParameterSet().find('Patient', 'gender');
  const codesOf = (system: string): readonly string[] | undefined => gender && impliedCodesOf(gender, system);

  it('returns the codes of the value set that R4 binds to the element', () => {
    expect(codesOf('http://hl7.org/fhir/administrative-gender')).toContain('female');
  });

  it.each(['http://loinc.org', 'constructor', '__proto__'])('returns nothing for the system %s', (system) => {
    expect(codesOf(system)).toBeUndefined();
  });
});
