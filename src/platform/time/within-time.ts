import { type Context, createContext, Script } from 'node:vm';

const CALL = new Script('work()');

/** A context is dear to make; work is synchronous, so one is enough. */
let context: (Context & { work: (() => unknown) | undefined }) | undefined;

/**
 * Runs synchronous work, and ends it when it takes too long: expressions of users may hold patterns that take for ever.
 * Node can interrupt what a script of `vm` calls; nothing is isolated by this. It costs some 50 µs: a thread watches
 * the time.
 * @returns undefined when the time was over
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
