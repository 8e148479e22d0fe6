import { describe, expect, it } from '@jest/globals';
import { ofType, placeholdersIn, valueOf } from './criteria';

const criteria = [
  'Patient?_id={{user.data.patient}}',
  'Observation?patient=Patient/{{ user.data.patient }}',
  'Medication',
];

describe(ofType, () => {
  it('returns the criteria of a type and counts the other criteria', () => {
    expect(ofType(criteria, 'Patient')).toEqual({ shown: [criteria[0]], others: 2 });
    expect(ofType(criteria, 'Medication')).toEqual({ shown: ['Medication'], others: 2 });
    expect(ofType(criteria, undefined)).toEqual({ shown: criteria, others: 0 });
  });
});

describe(placeholdersIn, () => {
  it('returns each path once', () => {
    expect(placeholdersIn(criteria)).toEqual(['user.data.patient']);
  });
});

describe(valueOf, () => {
  it('returns the value of a path as JSON, or "nothing" for a missing path', () => {
    const from = { user: { data: { patient: 'p1', wards: ['a'] } } };
    expect(
      ['user.data.patient', 'user.data.wards', 'user.data.none', 'user.x.y'].map((path) => valueOf(from, path)),
    ).toEqual(['"p1"', '["a"]', 'nothing', 'nothing']);
  });
});
