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
    const { requestId, isolationLevel } = this.requests;
    const request = new IncomingMessage(new Socket());
    Object.assign(request, {
      method,
      url,
      headers: {
        ...headers,
        ...(requestId === undefined ? {} : { 'x-request-id': requestId }),
        ...(isolationLevel === undefined ? {} : { 'x-max-isolation-level': isolationLevel }),
      },
      // The body parser leaves it alone, since no header tells of a body.
      ...(body === undefined ? {} : { body }),
    });
    const handle = this.host.httpAdapter.getInstance<Handle>();
    return new Promise((resolve, reject) => {
      handle(request, gatheringResponse(request, resolve, reject), reject);
    });
  }
}

/** A response that gathers what is answered. Own members, since Express exchanges the prototype of a response. */
function gatheringResponse(
  request: IncomingMessage,
  resolve: (answer: InnerAnswer) => void,
  reject: (error: Error) => void,
): ServerResponse {
  const chunks: Buffer[] = [];
  const response = new ServerResponse(request);
  const write = (chunk?: unknown): boolean => {
    if (typeof chunk === 'string') chunks.push(Buffer.from(chunk));
    else if (Buffer.isBuffer(chunk)) chunks.push(chunk);
    return true;
  };
  const end = (chunk?: unknown): ServerResponse => {
    write(chunk);
    const text = Buffer.concat(chunks).toString('utf8');
    resolve({ status: response.statusCode, headers: response.getHeaders(), text });
    return response;
  };
  const destroy = (error?: Error): ServerResponse => {
    reject(error ?? new Error('An inner answer was cut'));
    return response;
  };
  return Object.assign(response, { write, end, destroy });
}
