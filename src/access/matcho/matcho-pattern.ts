import { TooCostly } from '../../platform/errors/too-costly';
import { isObject } from '../../platform/json/plain-object';
import { type FailedClause } from '../policy/policy-engine';
import { type RequestObject } from '../request/access-request';

/** Maximum number of comparisons when one pattern is matched with one request. A body of 20 MiB could need billions. */
const MAX_STEPS = 200_000;

/** One evaluation of a pattern. It counts how many comparisons it may still make. */
export class MatchRun {
  private left = MAX_STEPS;

  constructor(readonly request: RequestObject) {}

  /** @throws TooCostly */
  step(): void {
    if (--this.left < 0) throw new TooCostly('The request is too large to be compared');
  }
}

/** A compiled pattern: a function that returns the first failure of a value, or undefined when the value matches. */
export type Pattern = (value: unknown, run: MatchRun) => FailedClause | undefined;

export const failed = (path: string, reason: string): FailedClause => ({ path, reason });

export const isNil = (value: unknown): value is null | undefined => value === null || value === undefined;

/** Whether two JSON values are equal; members may be in any order. */
export function isEqual(one: unknown, other: unknown, run: MatchRun): boolean {
  run.step();
  if (isNil(one) || isNil(other)) return isNil(one) && isNil(other);
  if (Array.isArray(one)) {
    if (!Array.isArray(other) || one.length !== other.length) return false;
    return one.every((item, at) => isEqual(item, other[at], run));
  }
  if (!isObject(one)) return one === other;
  if (!isObject(other)) return false;
  const names = Object.keys(one);
  if (names.length !== Object.keys(other).length) return false;
  return names.every((name) => Object.hasOwn(other, name) && isEqual(one[name], other[name], run));
}
