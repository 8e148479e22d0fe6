import { type Caller } from '../../platform/request/caller';
import {
  type AccessRequest,
  REQUEST_PARTS,
  type RequestObject,
  type RequestPart,
  type RpcCallRequest,
} from './access-request';

/** Source of each part; a request lacks the parts that are absent here. */
export type PartSources = Partial<Record<RequestPart, () => unknown>>;

export interface RequestFacts {
  readonly caller: Caller;
  readonly operationId: string | undefined;
  readonly rpc?: RpcCallRequest;
}

/** A request whose parts are read on demand; most decisions need none. */
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
    // Sequential: a transaction has only one connection.
    for (const part of parts) {
      const value = await this.part(part);
      if (value !== undefined) found.push([part, value]);
    }
    return Object.fromEntries(found);
  }

  /** Derives a request that differs in some parts; all others are read once for both. */
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
