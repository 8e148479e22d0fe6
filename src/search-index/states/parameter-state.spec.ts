import { describe, expect, it } from '@jest/globals';
import { type ParameterState, progressOf } from './parameter-state';

const START = Date.UTC(2026, 0, 1);

const row = (members: Partial<ParameterState>): ParameterState => ({
  parameter_key: 1,
  definition_id: 'race',
  resource_type: 'Patient',
  code: 'race',
  kind: 'token',
  expression: 'Patient.gender',
  targets: [],
  components: [],
  state: 'building',
  done_count: 0,
  total_count: 0,
  started_at: new Date(START),
  finished_at: null,
  ...members,
});

describe(progressOf, () => {
  it.each([
    ['before the job has begun', { started_at: null }, { percent: 0 }],
    ['before the first batch', { total_count: 1000 }, { percent: 0 }],
    ['after a quarter', { done_count: 250, total_count: 1000 }, { percent: 25, secondsLeft: 30 }],
    ['rounded down to a whole percent', { done_count: 999, total_count: 1000 }, { percent: 99, secondsLeft: 1 }],
    ['if resources were added meanwhile', { done_count: 1200, total_count: 1000 }, { percent: 99, secondsLeft: 0 }],
    ['at the end', { state: 'active' as const, done_count: 1000, total_count: 1000 }, { percent: 100 }],
  ])('returns the progress %s', (_when, members, progress) => {
    expect(progressOf(row(members), START + 10_000)).toEqual(progress);
  });
});
