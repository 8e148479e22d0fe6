import { type Pool, type PoolClient } from 'pg';

/** Called at the end of an observed action, with its error if it failed. */
export type End = (error?: unknown) => void;

/**
 * Observes every connection and statement of a pool, including those of repositories and of the unit of work. It wraps
 * methods, since node-postgres has no hooks for this.
 * @param onConnect called when a connection is requested. It returns undefined to ignore the request
 * @param onStatement called with a statement as passed to node-postgres: a text, or an object that contains the text
 */
export function observePool(
  pool: Pool,
  onConnect: () => End | undefined,
  onStatement: (statement: unknown) => End,
): void {
  const known = new WeakSet<PoolClient>();
  observeCalls(pool, 'connect', onConnect);
  // The event 'connect' would be too late: TypeORM's driver has already opened a connection.
  pool.on('acquire', (client) => {
    if (known.has(client)) return;
    known.add(client);
    observeCalls(client, 'query', ([statement]) => onStatement(statement));
  });
}

/**
 * Wraps a method that takes a callback or returns a promise. `begin` is called before each call, and the result of
 * `begin` after it. The method of the class is looked up at each call, as without an observer.
 */
function observeCalls(
  target: object,
  method: 'connect' | 'query',
  begin: (parameters: readonly unknown[]) => End | undefined,
): void {
  type Methods = Readonly<Record<string, (...parameters: unknown[]) => unknown>>;
  const own = Object.hasOwn(target, method) ? (target as Methods)[method] : undefined;
  const call = (parameters: unknown[]): unknown =>
    (own ?? (Object.getPrototypeOf(target) as Methods)[method])?.apply(target, parameters);
  const observed = (...parameters: unknown[]): unknown => {
    const end = begin(parameters);
    if (end === undefined) return call(parameters);
    const callback = parameters.at(-1);
    if (typeof callback === 'function') {
      const ended = (error: unknown, ...results: unknown[]): unknown => {
        end(error ?? undefined);
        return (callback as (...results: unknown[]) => unknown)(error, ...results);
      };
      return call([...parameters.slice(0, -1), ended]);
    }
    const result = call(parameters);
    if (result instanceof Promise)
      result.then(() => {
        end();
      }, end);
    return result;
  };
  Object.assign(target, { [method]: observed });
}
