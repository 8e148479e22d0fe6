import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import * as locks from './advisory-locks';

const numbersOf = (isClass: boolean): number[] =>
  Object.entries(locks).flatMap(([name, number]) => (name.endsWith('_CLASS') === isClass ? [number] : []));

describe('H7: advisory locks', () => {
  it.each([
    ['one key', false],
    ['two keys', true],
  ])('with %s have distinct numbers', (_kind, isClass) => {
    const numbers = numbersOf(isClass);
    expect(numbers.length).toBeGreaterThan(3);
    expect(new Set(numbers).size).toBe(numbers.length);
  });

  it('keep their numbers, since replicas of two releases run at the same time', () => {
    expect(locks).toMatchObject({
      MIGRATION_LOCK: 4_713_590,
      INDEX_JOB_LOCK: 4_713_591,
      KEEP_DAYS_LOCK: 4_713_592,
      SESSION_SWEEP_LOCK: 4_713_594,
      KEY_ROTATION_LOCK: 4_713_595,
      WORKER_LOCK_CLASS: 4_713_591,
      SESSION_OWNER_LOCK_CLASS: 4_713_592,
      SESSION_FAMILY_LOCK_CLASS: 4_713_593,
      LOGIN_LOCK_CLASS: 4_713_596,
    });
  });

  it('are numbered in one file', () => {
    const found = readdirSync('src', { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.spec.ts'))
      .filter((name) => /\b4_?713_?\d{3}\b/.test(readFileSync(join('src', name), 'utf8')));
    expect(found).toEqual([join('platform', 'database', 'advisory-locks.ts')]);
  });
});
