import { type Context, Script, createContext } from 'node:vm';
import { unfit } from './tree-patch';

/** Long for any patch that people write, short for those who wait behind it: the process does nothing else meanwhile. */
const MAX_MILLISECONDS = 2000;

const script = new Script('work()');
let context: Context | undefined;

/**
 * Runs synchronous work that callers shape (expressions on large resources) and ends it when it takes too long: Node
 * can interrupt what a script of `vm` calls. Nothing is isolated by this; the work is our own code.
 * @throws ServiceError 'unprocessable' when the time is over.
 */
export function withinTime<T>(work: () => T): T {
  context ??= createContext({});
  context.work = work;
  try {
    return script.runInContext(context, { timeout: MAX_MILLISECONDS }) as T;
  } catch (error) {
    if (!isTimeout(error)) throw error;
    throw unfit('The patch takes too long: use simpler paths, or fewer operations.');
  } finally {
    context.work = undefined;
  }
}

const isTimeout = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
