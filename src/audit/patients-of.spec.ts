import { describe, expect, it } from '@jest/globals';
import { atOnce } from '../platform/time/steps';
import { patientsOf, patientsOfQuery } from './patients-of';

const BASE = 'http://server.example';

const found = (type: string, value: unknown): readonly string[] => atOnce(patientsOf(type, 'x', value, BASE));

describe(patientsOf, () => {
  it.each([
    ['Patient', '{}', ['x']],
    ['Observation', '{"subject":{"reference":"Patient/p1"}}', ['p1']],
    [
      'Observation',
      '{"subject":{"reference":"Patient/p1/_history/2"},"focus":[{"reference":"Patient/p2"}]}',
      ['p1', 'p2'],
    ],
    ['Observation', '{"subject":{"reference":"http://server.example/fhir/Patient/p1"}}', ['p1']],
    ['Observation', '{"subject":{"reference":"http://other.example/fhir/Patient/p1"}}', []],
    ['Observation', String.raw`{"subject":{"reference":"Patient\u002fp1"}}`, ['p1']],
    ['SDCDocument', '{"patient":{"resourceType":"Patient","id":"p1"}}', ['p1']],
    ['SDCDocument', '{"patient":{"id":"p1","display":"A","resourceType":"Patient"}}', ['p1']],
    ['Basic', '{"subject":{"reference":"Group/g1"}}', []],
    ['Basic', JSON.stringify({ text: '"reference":"Patient/p1"' }), []],
    // A contained Patient has no address; the Observation beside it refers to a stored one.
    [
      'DiagnosticReport',
      '{"contained":[{"resourceType":"Patient","id":"p1"},{"resourceType":"Observation","subject":{"reference":"Patient/p2"}}]}',
      ['p2'],
    ],
  ])('returns for the %s %s the ids %j', (type, text, patients) => {
    expect(found(type, JSON.parse(text))).toEqual(patients);
  });

  it('returns the first ten ids at most', () => {
    const entry = Array.from({ length: 200_000 }, (_one, index) => ({ reference: `Patient/p${index}` }));
    expect(found('List', { entry })).toEqual(Array.from({ length: 10 }, (_one, index) => `p${index}`));
  });
});

describe(patientsOfQuery, () => {
  it.each([
    ['Observation', 'patient=p1&code=x', ['p1']],
    ['Observation', 'subject=Patient/p1,Patient/p2', ['p1', 'p2']],
    ['Observation', 'subject=http://server.example/Patient/p1', ['p1']],
    ['Observation', 'subject=Group/g1&name=p1&_id=p2', []],
    ['Observation', 'subject:Patient=p1', ['p1']],
    ['Patient', '_id=p1,p2', ['p1', 'p2']],
    [undefined, '_id=p1', []],
  ])('returns for the search %s?%s the ids %j', (type, query, patients) => {
    expect(patientsOfQuery(type, new URLSearchParams(query), BASE)).toEqual(patients);
  });
});
