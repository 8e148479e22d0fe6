import { describe, expect, it } from '@jest/globals';
import { verdictOf } from './verdict';

type Trial = Parameters<typeof verdictOf>[0];

const trial = (decision: Trial['decision'], more: Partial<Trial> = {}): Trial => ({
  request: { 'request-method': 'get' },
  operation: { id: 'FhirRead' },
  policies: [{ id: 'p', engine: 'allow', result: { 'eval-result': false } }],
  decision,
  ...more,
});

describe(verdictOf, () => {
  it.each<[string, Trial]>([
    ['bad: Refused with 403', trial({ granted: false })],
    ['bad: Refused with 403', trial({ granted: false }, { policies: [] })],
    ['good: Granted', trial({ granted: true, rows: 'all', by: 'p' })],
    ['bad: Hidden: answered with 404', trial({ granted: true, rows: 'some', 'finds-resource': false })],
    [
      'bad: Refused: not one of the granted resources',
      trial({ granted: true, rows: 'some', 'finds-resource': false }, { request: { 'request-method': 'put' } }),
    ],
    ['good: Granted', trial({ granted: true, rows: 'some', 'finds-resource': true })],
    ['warn: Granted for some resources', trial({ granted: true, rows: 'some' })],
    [
      'bad: Refused with 401',
      trial({ granted: true, rows: 'all' }, { note: 'There is no active User "x": its requests get 401.' }),
    ],
  ])('%s', (said, one) => {
    const { tone, title } = verdictOf(one);
    expect(`${tone}: ${title}`).toBe(said);
  });
});
