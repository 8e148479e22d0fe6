import { type Pool, type PoolClient } from 'pg';

/** Called when what was begun is over, with the error of a failure. */
export type End = (error?: unknown) => void;

export interface PoolObserver {
  /** A caller asks for a connection. */
  wait(): End;
  /** @param statement as node-postgres gets it: a text, or an object with one */
  statement(statement: unknown): End;
}

/**
 * Observes every connection and every statement of a pool: those of repositories and of the unit of work too. node-postgres has no hooks
 * for it.
 */
export function observePool(pool: Pool, observer: PoolObserver): void {
  const known = new WeakSet<PoolClient>();
  observeCalls(pool, 'connect', () => observer.wait());
  // Not 'connect': the driver of TypeORM has opened a connection by now.
  pool.on('acquire', (client) => {
    if (known.has(client)) return;
    known.add(client);
    observeCalls(client, 'query', ([statement]) => observer.statement(statement));
  });
}

/** Calls `begin` before each call of a method that takes a callback or returns a promise, and the result of `begin` after it. */
function observeCalls(
  target: object,
  method: 'connect' | 'query',
  begin: (parameters: readonly unknown[]) => End,
): void {
  const call = (target as Record<string, (...parameters: unknown[]) => unknown>)[method];
  if (call === undefined) return;
  const observed = (...parameters: unknown[]): unknown => {
    const end = begin(parameters);
    const callback = parameters.at(-1);
    if (typeof callback === 'function') {
      const called = (error: unknown, ...results: unknown[]): unknown => {
        end(error ?? undefined);
        return (callback as (...results: unknown[]) => unknown)(error, ...results);
      };
      return call.apply(target, [...parameters.slice(0, -1), called]);
    }
    const result = call.apply(target, parameters);
    if (result instanceof Promise)
      result.then(() => {
        end();
      }, end);
    return result;
  };
  Object.assign(target, { [method]: observed });
}
