import { type IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { RequestContext } from '../platform/request/request-context';

/** Requests whose changes were recorded one by one: a success needs no record more. */
@Injectable()
export class RecordedRequests {
  private readonly requestIds = new WeakSet<IncomingMessage>();

  constructor(private readonly requests: RequestContext) {}

  add(): void {
    const { origin } = this.requests;
    if (origin !== undefined) this.requestIds.add(origin);
  }

  has(): boolean {
    const { origin } = this.requests;
    return origin !== undefined && this.requestIds.has(origin);
  }
}
