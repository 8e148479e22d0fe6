/**
 * Values that belong to objects, for example the roles of the caller of a request. It replaces a WeakMap that lives as
 * long as the process: V8 collects the young generation as if all values in the table of such a map were in use. So
 * each request with a value there was promoted to the old generation, with everything that it refers to (ADR 0072).
 */
export class KeptOn<Owner extends object, T> {
  private readonly key = Symbol('kept');

  get(owner: Owner): T | undefined {
    return (owner as Readonly<Record<symbol, T | undefined>>)[this.key];
  }

  /** A copy of the object, by a spread or as JSON, does not have the value. */
  set(owner: Owner, value: T): void {
    Object.defineProperty(owner, this.key, { value, writable: true });
  }
}
