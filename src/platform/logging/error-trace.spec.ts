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
  it.each<readonly [what: string, error: unknown, firstLine: string]>([
    ['a TypeError', new TypeError('x is not a function'), 'TypeError: x is not a function'],
    ['a missing table', postgres('42P01', 'relation "x" does not exist'), 'error 42P01: relation "x" does not exist'],
    ['a value that PostgreSQL cannot read', postgres('22P02', 'invalid input syntax: "canary"'), 'error 22P02'],
    ['an exception of a database function', postgres('P0001', 'canary'), 'error P0001'],
    ['a JSON syntax error', thrownBy(() => JSON.parse('{"family": canary}')), 'SyntaxError'],
    ['an error class of a library', Object.assign(new Error('canary'), { name: 'YAMLException' }), 'YAMLException'],
    ['an error without a message', new Error(), 'Error'],
    ['a thrown text', 'canary', 'Something that is no Error was thrown: string'],
  ])('names %s in its first line, without data of a request', (_what, error, firstLine) => {
    expect(firstLineOf(error)).toBe(firstLine);
    expect(errorTrace(error)).not.toContain('canary');
  });

  it('contains the stack, but no line of a message that looks like a stack', () => {
    const error = Object.assign(new Error('first\n    at canary (canary.ts:1)'), { name: 'YAMLException' });
    const trace = errorTrace(error);
    expect(trace).toMatch(/^YAMLException\n {4}at .*error-trace\.spec/);
    expect(trace).not.toContain('canary.ts');
  });
});
