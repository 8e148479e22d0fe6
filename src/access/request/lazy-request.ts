import { type Caller } from '../../platform/request/caller';
import {
  type AccessRequest,
  REQUEST_PARTS,
  type RequestObject,
  type RequestPart,
  type RpcCallRequest,
} from './access-request';

/** Functions that compute the parts of a request. A request does not have the parts that are absent here. */
export type PartSources = Partial<Record<RequestPart, () => unknown>>;

export interface RequestFacts {
  readonly caller: Caller;
  readonly operationId: string | undefined;
  readonly rpc?: RpcCallRequest;
}

/** A request whose parts are computed on demand, since most decisions need no part. */
export class LazyRequest implements AccessRequest {
  readonly caller: Caller;
  readonly operationId: string | undefined;
  readonly rpc?: RpcCallRequest;
  private readonly known = new Map<RequestPart, Promise<unknown>>();
  private sources: PartSources | undefined;

  constructor(
    facts: RequestFacts,
    private readonly makeSources: () => PartSources,
  ) {
    this.caller = facts.caller;
    this.operationId = facts.operationId;
    if (facts.rpc !== undefined) this.rpc = facts.rpc;
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

  /**
   * Returns a request that differs from this one in some parts. Parts that do not differ are computed once for both.
   */
  seenAs(facts: RequestFacts, differing: (seen: LazyRequest) => PartSources): LazyRequest {
    return new LazyRequest(facts, () => {
      const same = REQUEST_PARTS.map((part) => [part, () => this.part(part)]);
      return { ...(Object.fromEntries(same) as PartSources), ...differing(this) };
    });
  }

  part(part: RequestPart): Promise<unknown> {
    let value = this.known.get(part);
    if (value === undefined) {
      this.sources ??= this.makeSources();
      value = Promise.resolve(this.sources[part]?.());
      this.known.set(part, value);
    }
    return value;
  }
}
