import { Injectable } from '@nestjs/common';
import { type Request } from 'express';
import { KeptOn } from '../../platform/kept-on';
import { type Caller } from '../../platform/request/caller';
import { RequestContext } from '../../platform/request/request-context';
import { Slices } from '../../platform/time/slices';
import { type EntryAccessRequest } from '../../resource/access/entry-access';
import { CallerParts } from './caller-parts';
import { entryParts } from './entry-parts';
import { httpParts } from './http-parts';
import { LazyRequest } from './lazy-request';
import { RESERVED_PARAMS } from './route-params';

const SEARCH = 'FhirSearch';

/** Builds the request objects that policies see, for requests and their entries. */
@Injectable()
export class AccessRequests {
  /**
   * Request objects of HTTP requests, by {@link RequestContext.present}. The request object of a Bundle entry takes the
   * parts in which it does not differ from the request object of the whole Bundle.
   */
  private readonly outer = new KeptOn<object, LazyRequest>();

  /**
   * The parts of a caller (User, Client, Session), which a request and its entries share, so that they are read once.
   */
  private readonly known = new KeptOn<Caller, LazyRequest>();

  constructor(
    private readonly callers: CallerParts,
    private readonly requests: RequestContext,
    private readonly slices: Slices,
  ) {}

  ofHttp(request: Request, caller: Caller, operationId: string | undefined): LazyRequest {
    const { origin = request, present } = this.requests;
    const made = this.ofCaller(caller, request.headers.authorization).seenAs(
      { caller, operationId },
      httpParts(request, origin, operationId, this.slices),
    );
    if (present !== undefined) this.outer.set(present, made);
    return made;
  }

  /** The same request without the parameters that were sent: only the values of the route are left. */
  withoutQuery(seen: LazyRequest): LazyRequest {
    return seen.seenAs(seen, {
      'query-string': () => '',
      params: async () =>
        Object.fromEntries(
          Object.entries((await seen.part('params')) as object).filter(([name]) => RESERVED_PARAMS.has(name)),
        ),
    });
  }

  /** Returns the request object of the current request, on which the guard decided too. Undefined without a caller. */
  ofPresent(): LazyRequest | undefined {
    const { caller, present } = this.requests;
    if (caller === undefined || present === undefined) return undefined;
    return this.outer.get(present) ?? this.ofCaller(caller, undefined);
  }

  /** The request object of an entry of the current request. Undefined without a caller. */
  ofEntry(entry: EntryAccessRequest): LazyRequest | undefined {
    const present = this.ofPresent();
    // The caller comes last: an entry made by other code must not name one.
    return present?.seenAs(Object.assign({}, entry, { caller: present.caller }), entryParts(entry, present));
  }

  /** The request object of a search of all resources of a type; its other parts are those of `seen`. */
  ofSearch(seen: LazyRequest, type: string): LazyRequest {
    const entry = { method: 'GET', url: type, type, operationId: SEARCH, body: () => undefined } as const;
    return seen.seenAs({ caller: seen.caller, operationId: SEARCH }, entryParts(entry, seen));
  }

  private ofCaller(caller: Caller, authorization: string | undefined): LazyRequest {
    const known =
      this.known.get(caller) ??
      new LazyRequest({ caller, operationId: undefined }, this.callers.of(caller, authorization));
    this.known.set(caller, known);
    return known;
  }
}
