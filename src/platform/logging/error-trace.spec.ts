import { describe, expect, it } from '@jest/globals';
import { errorTrace } from './error-trace';

const thrownBy = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return error;
  }
};
const postgres = (code: string, message: string): Error => Object.assign(new Error(message), { name: 'error', code });
const firstLineOf = (error: unknown): string | undefined => errorTrace(error).split('\n')[0];

describe(errorTrace, () => {
  it.each<readonly [what: string, error: unknown, told: string]>([
    ['an error of ours', new TypeError('x is not a function'), 'TypeError: x is not a function'],
    [
      'a table that is missing',
      postgres('42P01', 'relation "x" does not exist'),
      'error 42P01: relation "x" does not exist',
    ],
    ['a value that PostgreSQL cannot read', postgres('22P02', 'invalid input syntax: "canary"'), 'error 22P02'],
    ['what a function raises', postgres('P0001', 'canary'), 'error P0001'],
    ['a text that is no JSON', thrownBy(() => JSON.parse('{"family": canary}')), 'SyntaxError'],
    ['a name that is unknown', Object.assign(new Error('canary'), { name: 'YAMLException' }), 'YAMLException'],
    ['an error without a message', new Error(), 'Error'],
    ['what is no error', 'canary', 'Something that is no Error was thrown: string'],
  ])('tells of %s by its first line', (_what, error, told) => {
    expect(firstLineOf(error)).toBe(told);
    expect(errorTrace(error)).not.toContain('canary');
  });

  it('tells where an error came from, also when its message has lines like those of a stack', () => {
    const error = Object.assign(new Error('first\n    at canary (canary.ts:1)'), { name: 'YAMLException' });
    const trace = errorTrace(error);
    expect(trace).toMatch(/^YAMLException\n {4}at .*error-trace\.spec/);
    expect(trace).not.toContain('canary.ts');
  });
});
