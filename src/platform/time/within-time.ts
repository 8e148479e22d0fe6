import { type Context, createContext, Script } from 'node:vm';

const CALL = new Script('work()');

/** A context is expensive to create; work is synchronous, so one suffices. */
let context: (Context & { work: (() => unknown) | undefined }) | undefined;

/**
 * Runs synchronous work with a time limit, since expressions of users may contain endless patterns. Node can interrupt
 * a script of `vm`; this isolates nothing. Costs some 50 µs, since a thread watches the time.
 * @returns undefined after the time limit
 */
export function withinTime<T>(milliseconds: number, work: () => T): T | undefined {
  context ??= Object.assign(createContext({}), { work: undefined });
  context.work = work;
  try {
    return CALL.runInContext(context, { timeout: milliseconds }) as T;
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined;
    throw error;
  } finally {
    context.work = undefined;
  }
}
