import { describe, expect, it } from '@jest/globals';
import { type CriteriaTemplate, fillCriterion, parseCriterion } from './criteria-template';

function template(text: string): CriteriaTemplate {
  const parsed = parseCriterion(text);
  if (typeof parsed === 'string') throw new Error(parsed);
  return parsed;
}

const filled = (text: string, user: object): string | undefined => {
  const criterion = fillCriterion(template(text), { user });
  return criterion === undefined ? undefined : decodeURIComponent(criterion);
};

describe('a criterion', () => {
  it('may consist of a resource type only', () => {
    expect(filled('Medication', {})).toBe('Medication');
  });

  it('is unchanged if it has no placeholder', () => {
    expect(filled('Observation?code=http://loinc.org|8867-4,1-8&status=final', {})).toBe(
      'Observation?code=http://loinc.org|8867-4,1-8&status=final',
    );
  });

  it('takes values from the request', () => {
    expect(filled('Observation?subject=Patient/{{user.data.patient}}', { data: { patient: 'p7' } })).toBe(
      'Observation?subject=Patient/p7',
    );
  });

  it('expands a list into alternatives, each with the text around the placeholder', () => {
    const data = { wards: ['w1', 'w2'], site: ['a', 'b'] };
    expect(filled('Encounter?location=Location/{{user.data.wards}},Location/hall', { data })).toBe(
      'Encounter?location=Location/w1,Location/w2,Location/hall',
    );
    expect(filled('Encounter?identifier={{user.data.site}}|{{user.data.wards}}', { data })).toBe(
      'Encounter?identifier=a|w1,a|w2,b|w1,b|w2',
    );
  });

  it('follows a path through lists', () => {
    const roles = [{ links: { organization: { id: 'o1' } } }, { links: {} }, { links: { organization: { id: 'o2' } } }];
    expect(filled('Patient?organization={{user.role.links.organization.id}}', { role: roles })).toBe(
      'Patient?organization=o1,o2',
    );
    expect(filled('Patient?organization={{user.role.2.links.organization.id}}', { role: roles })).toBe(
      'Patient?organization=o2',
    );
  });

  it.each([
    ['a missing value', {}],
    ['an empty text', { name: '' }],
    ['white space', { name: '  ' }],
    ['null', { name: null }],
    ['an empty list', { name: [] }],
    ['a list of nothing', { name: [null, '', {}] }],
    ['an object', { name: { id: 'x' } }],
    ['a NUL', { name: 'a\0b' }],
    ['more values than a search takes', { name: Array.from({ length: 1001 }, (_, i) => `v${i}`) }],
    ['a member that every object has', { name: undefined, toString: undefined }],
  ])('is undefined for %s', (_case, user) => {
    expect(filled('Patient?_id={{user.name}}', user)).toBeUndefined();
    expect(filled('Patient?_id={{user.constructor.name}}', user)).toBeUndefined();
  });

  it('is undefined if one of several values is missing', () => {
    expect(filled('Observation?subject={{user.a}}&encounter={{user.b}}', { a: 'x' })).toBeUndefined();
    expect(filled('Observation?identifier={{user.a}}|{{user.b}}', { a: 'x' })).toBeUndefined();
  });

  it.each([
    ['p1&name=x', 'p1&name=x'],
    ['p1,p2', 'p1\\,p2'],
    ['s|v', 's\\|v'],
    ['a$b', 'a\\$b'],
    ['a\\,b', 'a\\\\\\,b'],
    ['%2Cp2', '%2Cp2'],
    ['{{user.other}}', '{{user.other}}'],
    ['+ #?/é', '+ #?/é'],
  ])('escapes %j as one value', (value, escaped) => {
    const criterion = fillCriterion(template('Patient?_id={{user.id}}'), { user: { id: value, other: 'z' } });
    expect([...new URLSearchParams(criterion?.slice('Patient?'.length))]).toEqual([['_id', escaped]]);
  });

  it('reads only the parts of the request that it names', () => {
    expect(template('Observation?subject={{user.a}}&encounter={{params.b}},{{user.c}}').parts).toEqual([
      'user',
      'params',
    ]);
  });
});
