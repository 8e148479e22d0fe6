import { Injectable } from '@nestjs/common';
import { type Request } from 'express';
import { type NativeReference } from '../../fhir/types';
import { type Caller } from '../../platform/request/caller';
import { RequestContext } from '../../platform/request/request-context';
import { Slices } from '../../platform/time/slices';
import { type EntryAccessRequest } from '../../resource/access/entry-access';
import { CallerParts } from './caller-parts';
import { entryParts } from './entry-parts';
import { httpParts } from './http-parts';
import { LazyRequest } from './lazy-request';

const READ = 'FhirRead';
const SEARCH = 'FhirSearch';

/** Makes the request object that policies see, of requests and of their entries. */
@Injectable()
export class AccessRequests {
  /** Entries of a transaction are seen through the request that brought them. By {@link RequestContext.present}. */
  private readonly outer = new WeakMap<object, LazyRequest>();

  /** The caller is read once for a request and the entries that share it. */
  private readonly known = new WeakMap<Caller, LazyRequest>();

  constructor(
    private readonly callers: CallerParts,
    private readonly requests: RequestContext,
    private readonly slices: Slices,
  ) {}

  ofHttp(request: Request, caller: Caller, operationId: string | undefined): LazyRequest {
    const made = this.ofCaller(caller, request.headers.authorization).seenAs({ caller, operationId }, () => ({
      ...httpParts(request, this.requests.origin ?? request, this.slices),
      operation: () => (operationId === undefined ? undefined : { id: operationId }),
    }));
    const { present } = this.requests;
    if (present !== undefined) this.outer.set(present, made);
    return made;
  }

  /** The present request, as its route was decided; undefined where nobody calls. */
  ofPresent(): LazyRequest | undefined {
    const { caller, present } = this.requests;
    if (caller === undefined || present === undefined) return undefined;
    return this.outer.get(present) ?? this.ofCaller(caller, undefined);
  }

  /** An entry of the present request; undefined where nobody calls. */
  ofEntry(entry: EntryAccessRequest): LazyRequest | undefined {
    const { operationId, rpc } = entry;
    const present = this.ofPresent();
    return present?.seenAs({ caller: present.caller, operationId, ...(rpc === undefined ? {} : { rpc }) }, (seen) =>
      entryParts(entry, seen),
    );
  }

  /** A search of all resources of a type, sent as `seen` was, by the same caller. */
  ofSearch(seen: LazyRequest, type: string): LazyRequest {
    const entry = { method: 'GET', url: type, type, operationId: SEARCH, resource: () => undefined } as const;
    return seen.seenAs({ caller: seen.caller, operationId: SEARCH }, () => entryParts(entry, seen));
  }

  /** Reads by somebody who does not call now: they come from nowhere, so that policies about addresses or tokens do not grant. */
  ofReader(principal: NativeReference): LazyRequest {
    const caller: Caller =
      principal.resourceType === 'User' ? { userId: principal.id, clientId: '' } : { clientId: principal.id };
    return new LazyRequest({ caller, operationId: READ }, () => ({
      ...this.callers.of(caller, undefined),
      'request-method': () => 'get',
      operation: () => ({ id: READ }),
    }));
  }

  private ofCaller(caller: Caller, authorization: string | undefined): LazyRequest {
    const known =
      this.known.get(caller) ??
      new LazyRequest({ caller, operationId: undefined }, () => this.callers.of(caller, authorization));
    this.known.set(caller, known);
    return known;
  }

  /** One of these reads. */
  ofRead(reader: LazyRequest, { type, id }: { readonly type: string; readonly id: string }): LazyRequest {
    return reader.seenAs(reader, () => ({
      uri: () => `/fhir/${type}/${id}`,
      params: () => ({ 'resource/type': type, 'resource/id': id }),
    }));
  }
}
