import { IncomingMessage, type OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { RequestContext } from './request-context';

export interface InnerRequest {
  readonly method: string;
  /** Path and query from the root of the server. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

export interface InnerAnswer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly text: string;
}

type Handle = (request: IncomingMessage, response: ServerResponse, next: (error: unknown) => void) => void;

/**
 * Sends requests to this server's own routes, without a connection: parts of one request that are decided and answered as
 * requests of their own, with guards, policies and error tables. An open unit of work is joined.
 */
@Injectable()
export class InnerRequests {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly requests: RequestContext,
  ) {}

  send({ method, url, headers, body }: InnerRequest): Promise<InnerAnswer> {
    const { requestId } = this.requests;
    const request = new IncomingMessage(new Socket());
    Object.assign(request, {
      method,
      url,
      headers: { ...headers, ...(requestId === undefined ? {} : { 'x-request-id': requestId }) },
      // The body parser leaves it alone, since no header tells of a body.
      ...(body === undefined ? {} : { body }),
    });
    const handle = this.host.httpAdapter.getInstance<Handle>();
    return new Promise((resolve, reject) => {
      handle(request, new InnerResponse(request, resolve, reject), reject);
    });
  }
}

/** Gathers what is answered. */
class InnerResponse extends ServerResponse {
  private readonly chunks: Buffer[] = [];

  constructor(
    request: IncomingMessage,
    private readonly resolve: (answer: InnerAnswer) => void,
    private readonly reject: (error: Error) => void,
  ) {
    super(request);
  }

  override write(chunk: unknown): boolean {
    if (typeof chunk === 'string') this.chunks.push(Buffer.from(chunk));
    else if (Buffer.isBuffer(chunk)) this.chunks.push(chunk);
    return true;
  }

  override end(chunk?: unknown): this {
    this.write(chunk);
    const text = Buffer.concat(this.chunks).toString('utf8');
    this.resolve({ status: this.statusCode, headers: this.getHeaders(), text });
    return this;
  }

  override destroy(error?: Error): this {
    this.reject(error ?? new Error('An inner answer was cut'));
    return this;
  }
}
