import { describe, expect, it } from '@jest/globals';
import { nearestCode } from './nearest-code';

const codes = ['birthdate', 'gender', 'name', 'given', 'family', '_id'];

describe(nearestCode.name, () => {
  it.each([
    ['birthdat', 'birthdate'],
    ['brithdate', 'birthdate'],
    ['gander', 'gender'],
    ['nam', 'name'],
    ['nmae', 'name'],
    ['id', '_id'],
    ['BirthDate', 'birthdate'],
    ['GENDR', 'gender'],
    ['telephone', undefined],
    ['x'.repeat(10_000), undefined],
    ['', undefined],
  ])('returns for "%s": %s', (mistyped, meant) => {
    expect(nearestCode(mistyped, codes)).toBe(meant);
  });
});
