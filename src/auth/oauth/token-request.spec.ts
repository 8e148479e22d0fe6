import { describe, expect, it } from '@jest/globals';
import { grantedScope } from './token-request';

describe(grantedScope, () => {
  const allowed = ['ward.read', 'ward.write', 'patient/*.rs?category=a|b'];

  it.each<[string | undefined, string | undefined | null]>([
    [undefined, undefined],
    ['ward.read', 'ward.read'],
    ['ward.write ward.read ward.write', 'ward.write ward.read'],
    ['patient/*.rs?category=a|b', 'patient/*.rs?category=a|b'],
    ['ward.delete', null],
    ['ward.read ward.delete', null],
    ['ward.read  ward.write', null],
    [' ward.read', null],
    ['WARD.READ', null],
    ['ward"read', null],
    ['wärd', null],
  ])('grants for scope %j the scope %j', (requested, granted) => {
    expect(grantedScope(requested, allowed)).toBe(granted);
  });
});
