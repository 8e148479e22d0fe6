import { describe, expect, it } from '@jest/globals';
import { type SearchParameter } from '../../search-index/extract/search-parameter';
import { impliedCodesOf } from './implied-system';

describe(impliedCodesOf, () => {
  const gender = { type: 'Patient', branches: [{ type: 'code', steps: [{ member: 'gender' }] }] };
  const codesOf = (system: string): readonly string[] | undefined =>
    impliedCodesOf(gender as unknown as SearchParameter, system);

  it('gives the codes of the value set that R4 binds to the element', () => {
    expect(codesOf('http://hl7.org/fhir/administrative-gender')).toContain('female');
  });

  it.each(['http://loinc.org', 'constructor', '__proto__'])('gives nothing for the system %s', (system) => {
    expect(codesOf(system)).toBeUndefined();
  });
});
