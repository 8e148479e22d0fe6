import { jest } from '@jest/globals';
import { HashThreads } from '../../src/auth/hashing/hash-threads';
import { type TestApp } from '../../testing/test-app';

/** How many password hashes a server began to compute since the first call. */
export function hashesOf({ app }: TestApp): number {
  // A repeated call returns the same spy.
  return jest.spyOn(app.get(HashThreads), 'run').mock.calls.length;
}
