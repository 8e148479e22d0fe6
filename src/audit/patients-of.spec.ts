import { describe, expect, it } from '@jest/globals';
import { patientsOf, patientsOfQuery } from './patients-of';

describe(patientsOf, () => {
  it.each([
    ['Patient', '{}', ['x']],
    ['Observation', '{"subject":{"reference":"Patient/p1"}}', ['p1']],
    [
      'Observation',
      '{"subject":{"reference":"Patient/p1/_history/2"},"focus":[{"reference":"Patient/p2"}]}',
      ['p1', 'p2'],
    ],
    ['SDCDocument', '{"patient":{"resourceType":"Patient","id":"p1"}}', ['p1']],
    ['Basic', '{"subject":{"reference":"Group/g1"}}', []],
    // A string value that contains the text of a reference: its quotes are escaped, so it does not count.
    ['Basic', JSON.stringify({ text: '"reference":"Patient/p1"' }), []],
  ])('of a %s %s are %j', (type, text, patients) => {
    expect(patientsOf(type, 'x', text)).toEqual(patients);
  });

  it('are ten at most', () => {
    const text = JSON.stringify(Array.from({ length: 50 }, (_one, index) => ({ reference: `Patient/p${index}` })));
    expect(patientsOf('List', 'x', text)).toHaveLength(10);
  });
});

describe(patientsOfQuery, () => {
  it.each([
    ['patient=p1&code=x', ['p1']],
    ['subject=Patient/p1,Patient/p2', ['p1', 'p2']],
    ['subject=Group/g1&name=p1', []],
    ['subject:Patient=p1', ['p1']],
  ])('%s names %j', (query, patients) => {
    expect(patientsOfQuery(new URLSearchParams(query))).toEqual(patients);
  });
});
