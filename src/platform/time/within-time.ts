import { type Context, createContext, Script } from 'node:vm';
import { isSystemError } from '../errors/system-error';

const CALL = new Script('work()');

/** The context in which work runs. A context is expensive to create; work is synchronous, so one context is enough. */
let context: (Context & { work: (() => unknown) | undefined }) | undefined;

/**
 * Runs synchronous work with a time limit, since expressions of users may contain patterns that take forever. It uses
 * `vm` because Node can interrupt a script of `vm`; the work is not isolated by it. A call costs about 50 µs, since a
 * thread watches the time.
 * @returns the result; undefined if the time limit was reached
 */
export function withinTime<T>(milliseconds: number, work: () => T): T | undefined {
  context ??= Object.assign(createContext({}), { work: undefined });
  context.work = work;
  try {
    return CALL.runInContext(context, { timeout: milliseconds }) as T;
  } catch (error) {
    if (isSystemError(error, 'ERR_SCRIPT_EXECUTION_TIMEOUT')) return undefined;
    throw error;
  } finally {
    context.work = undefined;
  }
}
