import { type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { type Held } from '../admission/slots';
import { type Ticket } from '../admission/ticket';
import { ServiceError } from '../errors/service-error';
import { RequestContext } from '../request/request-context';
import { type AppAdapter } from './app-adapter';

export interface InnerRequest {
  readonly method: string;
  /** Path and query, relative to the root of the server. */
  readonly url: string;
  /** The headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  /** A longer answer has a {@link InnerAnswer.refusal} instead of its text. */
  readonly mostCharacters: number;
}

export interface InnerAnswer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly text: string;
  /** `response.locals` of Express: data that the route keeps beside its answer. */
  readonly locals: Readonly<Record<string, unknown>>;
  /** Why the text is missing: it is too long, or the memory budget is full. */
  readonly refusal?: ServiceError;
}

type Handle = (request: IncomingMessage, response: ServerResponse, next: (error: unknown) => void) => void;

/**
 * Sends requests to the routes of this server without a connection. So Bundle entries are handled like separate
 * requests, with guards, policies and error tables. They join an open unit of work.
 */
@Injectable()
export class InnerRequests {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly requests: RequestContext,
  ) {}

  send({ method, url, headers, body, mostCharacters }: InnerRequest): Promise<InnerAnswer> {
    const { requestId, isolationLevel, ticket } = this.requests;
    const adapter = this.host.httpAdapter as AppAdapter;
    const request = new adapter.Request(new Socket());
    Object.assign(request, {
      method,
      url,
      headers: {
        ...headers,
        ...(requestId === undefined ? {} : { 'x-request-id': requestId }),
        ...(isolationLevel === undefined ? {} : { 'x-max-isolation-level': isolationLevel }),
      },
      // The body parser ignores this body, since no header declares one.
      ...(body === undefined ? {} : { body }),
    });
    const handle = adapter.getInstance<Handle>();
    const collected = new CollectedText(mostCharacters, ticket);
    return new Promise((resolve, reject) => {
      handle(request, gatheringResponse(new adapter.Response(request), collected, resolve, reject), reject);
    });
  }
}

/** The text of an inner answer. Its bytes count in the memory budget until the outer request ends. */
class CollectedText {
  private texts: string[] = [];
  private characters = 0;
  private readonly held: Held[] = [];
  private refusal: ServiceError | undefined;

  constructor(
    private readonly most: number,
    private readonly ticket: Ticket,
  ) {}

  /**
   * Adds a text, or drops it if it cannot be kept. The route continues as if the text were read, since it may already
   * have written to the database.
   */
  add(text: string): void {
    this.characters += text.length;
    if (this.refusal !== undefined) return;
    try {
      if (this.characters > this.most) throw tooLong();
      this.held.push(this.ticket.hold(text.length));
      this.texts.push(text);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      this.refusal = error;
      this.texts = [];
      for (const held of this.held) held.release();
    }
  }

  get answer(): Pick<InnerAnswer, 'text' | 'refusal'> {
    return { text: this.texts.join(''), ...(this.refusal === undefined ? {} : { refusal: this.refusal }) };
  }
}

const tooLong = (): ServiceError =>
  new ServiceError(
    'bundle-too-large',
    'The answers of this Bundle are too long together. Read this by itself, or ask for less: _count, _elements, _summary.',
  );

/**
 * Makes a response collect the answer to an inner request. The methods are own members, since Express replaces the
 * prototype of a response that is not `AppAdapter.Response`.
 */
function gatheringResponse(
  response: ServerResponse,
  collected: CollectedText,
  resolve: (answer: InnerAnswer) => void,
  reject: (error: Error) => void,
): ServerResponse {
  const write = (chunk?: unknown): boolean => {
    if (typeof chunk === 'string') collected.add(chunk);
    else if (Buffer.isBuffer(chunk)) collected.add(chunk.toString('utf8'));
    return true;
  };
  const end = (chunk?: unknown): ServerResponse => {
    write(chunk);
    const { locals = {} } = response as { locals?: InnerAnswer['locals'] };
    resolve({ status: response.statusCode, headers: response.getHeaders(), locals, ...collected.answer });
    return response;
  };
  const destroy = (error?: Error): ServerResponse => {
    reject(error ?? new Error('An inner answer was cut'));
    return response;
  };
  return Object.assign(response, { write, end, destroy });
}
