import { Injectable } from '@nestjs/common';
import { type Caller } from './caller';
import { RequestContext } from './request-context';

/**
 * The caller of the current request, for modules: in routes, operations, rules and change listeners.
 * @example
 * const userOf = (current: CurrentCaller): string | undefined => current.caller?.userId;
 */
@Injectable()
export class CurrentCaller {
  /** @internal */
  constructor(private readonly requests: RequestContext) {}

  /** Undefined in background work, and on a public route without credentials. */
  get caller(): Caller | undefined {
    return this.requests.caller;
  }
}
