import { describe, expect, it } from '@jest/globals';
import { compileCriteria, tryCriteria } from './topic-criteria';

const patient = (members: object): string => JSON.stringify({ resourceType: 'Patient', id: 'p', ...members });

describe(compileCriteria.name, () => {
  it('evaluates on the current resource', () => {
    const criteria = compileCriteria("gender = 'female'");
    expect(
      [{ gender: 'female' }, { gender: 'male' }, {}].map((members) => criteria({ current: patient(members) })),
    ).toEqual([true, false, false]);
  });

  it('compares the current with the previous version', () => {
    const criteria = compileCriteria('%current.active != %previous.active');
    const change = (before: boolean, after: boolean): boolean =>
      criteria({ current: patient({ active: after }), previous: patient({ active: before }) });
    expect([change(true, false), change(true, true)]).toEqual([true, false]);
  });

  it('has an empty %previous on a create', () => {
    const criteria = compileCriteria('%previous.empty() and %current.exists()');
    expect(criteria({ current: patient({}) })).toBe(true);
  });

  it('has an empty %current on a delete, and evaluates on the previous version', () => {
    const criteria = compileCriteria("%current.empty() and gender = 'male'");
    expect(criteria({ previous: patient({ gender: 'male' }) })).toBe(true);
  });

  it('has the resource as %resource', () => {
    expect(compileCriteria("%resource.gender = 'male'")({ current: patient({ gender: 'male' }) })).toBe(true);
  });

  it('does not match what is not true', () => {
    const criteria = compileCriteria('gender');
    expect(criteria({ current: patient({ gender: 'male' }) })).toBe(false);
  });

  it('knows the choice types of R4', () => {
    const criteria = compileCriteria('deceased is boolean');
    expect(criteria({ current: patient({ deceasedBoolean: true }) })).toBe(true);
  });

  it('throws when a resource cannot be evaluated', () => {
    const criteria = compileCriteria('name.single().exists()');
    expect(() => criteria({ current: patient({ name: [{ family: 'a' }, { family: 'b' }] }) })).toThrow();
  });

  it.each([
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!'.matches('^(a+)+$')",
    `active${' or active'.repeat(300)}`,
    'name.where(',
    'nothing()',
    '%nothing = 1',
    'name..family',
    'link.other.resolve().exists()',
  ])('refuses %s', (expression) => {
    expect(() => {
      tryCriteria(compileCriteria(expression), 'Patient');
    }).toThrow();
  });
});
