import { type AccessRequest, type RequestObject, type RequestPart } from './access-request';

/** Functions that compute the parts of a request. */
export type PartSources = Partial<Record<RequestPart, () => unknown>>;

type RequestFacts = Omit<AccessRequest, 'read'>;

/** A request whose parts are computed on demand, since most decisions need no part. */
export class LazyRequest implements AccessRequest {
  readonly caller: AccessRequest['caller'];
  readonly operationId: AccessRequest['operationId'];
  readonly rpc?: NonNullable<AccessRequest['rpc']>;
  private readonly known = new Map<RequestPart, Promise<unknown>>();

  /**
   * @param sources the parts of this request
   * @param outer a request that has the other parts; they are computed once for both. Without it the request has none
   */
  constructor(
    { caller, operationId, rpc }: RequestFacts,
    private readonly sources: PartSources,
    private readonly outer?: LazyRequest,
  ) {
    this.caller = caller;
    this.operationId = operationId;
    if (rpc !== undefined) this.rpc = rpc;
  }

  async read(parts: Iterable<RequestPart>): Promise<RequestObject> {
    const found: [RequestPart, unknown][] = [];
    // One part after the other, since a transaction has only one connection.
    for (const part of parts) {
      const value = await this.part(part);
      if (value !== undefined) found.push([part, value]);
    }
    return Object.fromEntries(found);
  }

  /** Returns a request that differs from this one in some parts. */
  seenAs(facts: RequestFacts, differing: PartSources): LazyRequest {
    return new LazyRequest(facts, differing, this);
  }

  part(part: RequestPart): Promise<unknown> {
    let value = this.known.get(part);
    if (value === undefined) {
      const source = this.sources[part];
      value = Promise.resolve(source === undefined ? this.outer?.part(part) : source());
      this.known.set(part, value);
    }
    return value;
  }
}
