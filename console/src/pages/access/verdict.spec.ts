import { describe, expect, it } from '@jest/globals';
import { verdictOf } from './verdict';

type Trial = Parameters<typeof verdictOf>[0];

const trial = (decision: Trial['decision'], more: Partial<Trial> = {}): Trial => ({
  request: { 'request-method': 'get', 'user-id': 'nora', params: { 'resource/type': 'Patient', 'resource/id': 'p1' } },
  operation: { id: 'FhirRead' },
  policies: [{ id: 'p', engine: 'allow', result: { 'eval-result': false } }],
  decision,
  ...more,
});
const hidden = { granted: true, rows: 'some', 'finds-resource': false } as const;
const put = { request: { 'request-method': 'put' } };

describe(verdictOf, () => {
  it.each<[string, Trial]>([
    ['bad: Refused with 403', trial({ granted: false })],
    ['bad: Refused with 403', trial({ granted: false, 'is-stored': false })],
    ['bad: Refused with 403', trial({ granted: false }, { policies: [] })],
    ['good: Granted', trial({ granted: true, rows: 'all', by: 'p' })],
    ['warn: Not stored: answered with 404', trial({ granted: true, rows: 'all', by: 'p', 'is-stored': false })],
    ['bad: Hidden from nora: answered with 404', trial({ ...hidden, 'is-stored': true })],
    ['warn: Not stored: answered with 404', trial({ ...hidden, 'is-stored': false })],
    ['warn: Answered with 404', trial(hidden)],
    ['bad: Refused: not one of the granted resources', trial({ ...hidden, 'is-stored': true }, put)],
    ['warn: Not stored yet', trial({ ...hidden, 'is-stored': false }, put)],
    ['good: Granted', trial({ granted: true, rows: 'some', 'finds-resource': true, 'is-stored': true })],
    ['warn: Granted for some resources', trial({ granted: true, rows: 'some' })],
    [
      'bad: Refused with 401',
      trial({ granted: true, rows: 'all' }, { note: 'There is no active User "x": its requests get 401.' }),
    ],
  ])('returns "%s"', (said, one) => {
    const { tone, title } = verdictOf(one);
    expect(`${tone}: ${title}`).toBe(said);
  });
});
