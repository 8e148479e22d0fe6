import { AsyncLocalStorage } from 'node:async_hooks';

/** One storage holds all values: on Node below 24, each further storage adds work to every promise. */
const storage = new AsyncLocalStorage<ReadonlyMap<Ambient<unknown>, unknown>>();

/** A value that code can read wherever it runs, without a parameter. */
export class Ambient<T> {
  get value(): T | undefined {
    return storage.getStore()?.get(this) as T | undefined;
  }

  /** Runs `work`, and all that it starts, with this value. */
  run<R>(value: T | undefined, work: () => R): R {
    return storage.run(new Map(storage.getStore()).set(this, value), work);
  }
}
