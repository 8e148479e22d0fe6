import { AsyncLocalStorage } from 'node:async_hooks';

/** The one AsyncLocalStorage for all values. On Node below 24, each further storage would add work to every promise. */
const storage = new AsyncLocalStorage<ReadonlyMap<Ambient<unknown>, unknown>>();

/** A value that code can read without getting it as a parameter. */
export class Ambient<T> {
  get value(): T | undefined {
    return storage.getStore()?.get(this) as T | undefined;
  }

  /** Runs `work` outside the current request, transaction and time limit, for work that may end after the response. */
  static outside<R>(work: () => R): R {
    return storage.run(new Map(), work);
  }

  /** Runs `work` with this value. Everything that `work` starts has the value too. */
  run<R>(value: T | undefined, work: () => R): R {
    return storage.run(new Map(storage.getStore()).set(this, value), work);
  }
}
