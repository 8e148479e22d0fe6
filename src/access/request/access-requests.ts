import { Injectable } from '@nestjs/common';
import { type Request } from 'express';
import { type NativeReference } from '../../fhir/types';
import { type Caller } from '../../platform/http/caller';
import { RequestContext } from '../../platform/http/request-context';
import { type EntryAccessRequest } from '../../resource/entry-access';
import { CallerParts } from './caller-parts';
import { entryParts } from './entry-parts';
import { httpParts } from './http-parts';
import { LazyRequest } from './lazy-request';

const READ = 'FhirRead';

/** Makes the request object that policies see, of requests and of their entries. */
@Injectable()
export class AccessRequests {
  /** Entries are seen through the request that brought them, so that the caller is read once for all of them. */
  private readonly outer = new WeakMap<Caller, LazyRequest>();

  constructor(
    private readonly callers: CallerParts,
    private readonly requests: RequestContext,
  ) {}

  ofHttp(request: Request, caller: Caller, operationId: string | undefined): LazyRequest {
    const made = new LazyRequest({ caller, operationId }, () => ({
      ...httpParts(request, this.requests.origin ?? request),
      ...this.callers.of(caller, request.headers.authorization),
      operation: () => (operationId === undefined ? undefined : { id: operationId }),
    }));
    this.outer.set(caller, made);
    return made;
  }

  /** An entry of the present request; undefined where nobody calls. */
  ofEntry(entry: EntryAccessRequest): LazyRequest | undefined {
    const { caller } = this.requests;
    if (caller === undefined) return undefined;
    const { operationId, rpc } = entry;
    const facts = { caller, operationId, ...(rpc === undefined ? {} : { rpc }) };
    return (this.outer.get(caller) ?? new LazyRequest(facts, () => this.callers.of(caller, undefined))).seenAs(
      facts,
      (seen) => entryParts(entry, seen),
    );
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

  /** One of these reads. */
  ofRead(reader: LazyRequest, { type, id }: { readonly type: string; readonly id: string }): LazyRequest {
    return reader.seenAs(reader, () => ({
      uri: () => `/fhir/${type}/${id}`,
      params: () => ({ 'resource/type': type, 'resource/id': id }),
    }));
  }
}
