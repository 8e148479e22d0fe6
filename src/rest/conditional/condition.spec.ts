import { describe, expect, it } from '@jest/globals';
import { ServiceError } from '../../platform/errors/service-error';
import { canonicalCondition, lockKeyOf } from './condition';

const canonical = (criteria: string): string => canonicalCondition({ type: 'Patient', criteria });

describe(canonicalCondition.name, () => {
  it.each([
    ['active=true&identifier=a|1', 'identifier=a%7C1&active=true'],
    ['identifier=a|1&identifier=a|1', 'identifier=a|1'],
    ['identifier=a|1,b|2', 'identifier=b|2,a|1,b|2'],
    ['?identifier=a', 'Patient?identifier=a'],
    ['name=a+b', 'name=a%20b'],
  ])('is equal for %s and %s', (one, other) => {
    expect(canonical(one)).toBe(canonical(other));
    expect(lockKeyOf({ type: 'Patient', criteria: one })).toBe(lockKeyOf({ type: 'Patient', criteria: other }));
  });

  it.each([
    ['identifier=a|1', 'identifier=a|2'],
    ['identifier=a,b', 'identifier=a\\,b'],
    ['identifier=a,b', 'identifier=a&identifier=b'],
    ['identifier=a', 'Identifier=a'],
  ])('differs for %s and %s', (one, other) => {
    expect(canonical(one)).not.toBe(canonical(other));
  });

  it('differs for another resource type', () => {
    const criteria = 'identifier=a';
    expect(lockKeyOf({ type: 'Patient', criteria })).not.toBe(lockKeyOf({ type: 'Person', criteria }));
  });

  it.each([
    '',
    '?',
    'Patient?',
    'identifier=',
    'identifier=a&active=',
    '_count=1',
    '_sort:x=1',
    '_include=Patient:link',
  ])('refuses "%s"', (criteria) => {
    expect(() => canonical(criteria)).toThrow(ServiceError);
  });
});
