import { AsyncResource } from 'node:async_hooks';
import { Injectable, Logger } from '@nestjs/common';
import { type NextFunction, type Request, type Response } from 'express';
import { Environment } from '../config/environment';
import { Histogram } from '../metrics/histogram';
import { family, type MetricFamily } from '../metrics/metric-family';
import { MetricsFrom, type MetricSource } from '../metrics/metric-source';
import { RequestContext } from '../request/request-context';
import { OperationNames } from './operation-names';
import { operationIdOfCode } from './route-access';

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const STATUS_CLASSES = ['2xx', '3xx', '4xx', '5xx'];
/** The status class of answers that were not sent whole: the client has left, or the server cut them. */
const CUT = 'cut';
/** As nginx logs it: the client left before there was an answer. */
const CLIENT_LEFT = 499;

/** Logs each request when its answer is over, and counts its time. Entries of a Bundle are part of their request. */
@Injectable()
@MetricsFrom({ source: 'answers', path: '/metrics' })
export class Answers implements MetricSource {
  private readonly logger = new Logger('Access');
  private readonly times = new Histogram(
    'svc_http_request_duration_seconds',
    'From the head of a request to the end of its answer, by the template of its route.',
  );
  private readonly isLogged: boolean;
  private operations: ReadonlySet<string> | undefined;

  constructor(
    { hasAccessLog, logLevel }: Environment,
    private readonly requests: RequestContext,
    private readonly names: OperationNames,
  ) {
    this.isLogged = hasAccessLog && logLevel !== 'error' && logLevel !== 'warn';
  }

  /** To be mounted behind the request context. */
  readonly watch = (request: Request, response: Response, next: NextFunction): void => {
    if (this.requests.origin === request) {
      const startedAt = performance.now();
      const { socket } = request;
      const sentBefore = socket.bytesWritten;
      const end = (): void => {
        this.end(request, response, performance.now() - startedAt, socket.bytesWritten - sentBefore);
      };
      // The event comes in the context of the socket, which may serve several requests.
      response.once('close', AsyncResource.bind(end));
    }
    next();
  };

  read(): readonly MetricFamily[] {
    const help = 'Answers that were sent whole, by the class of their status.';
    const samples = STATUS_CLASSES.map((status) => ({
      labels: { status },
      value: this.times.count((labels) => labels.status === status),
    }));
    return [family('counter', 'svc_http_answers_total', help, samples), this.times.read()];
  }

  private end(request: Request, response: Response, milliseconds: number, bytes: number): void {
    const isCut = !response.writableFinished;
    const status = response.headersSent ? response.statusCode : CLIENT_LEFT;
    const route = this.templateOf(request);
    const method = METHODS.has(request.method) ? request.method : 'other';
    this.times.observe(milliseconds / 1000, { method, route, status: isCut ? CUT : `${Math.trunc(status / 100)}xx` });
    if (!this.isLogged) return;
    const { caller, claimed } = this.requests;
    // A token endpoint knows who logged in, and nobody else calls.
    const { userId: user, clientId: client } = caller ?? (status < 400 ? claimed : undefined) ?? {};
    this.logger.log({
      event: 'request',
      ...{ method, route, status, milliseconds: Math.round(milliseconds * 10) / 10, bytes },
      ...(isCut ? { isCut } : {}),
      ...(user === undefined ? {} : { user }),
      ...(client === undefined ? {} : { client }),
    });
  }

  /** The route as it is declared, without values of the URL; known operations by their names. */
  private templateOf({ route, params }: Request): string {
    const { path } = (route ?? {}) as { readonly path?: unknown };
    if (typeof path !== 'string') return 'none';
    const { code } = params;
    if (typeof code === 'string' && path.endsWith(':code')) {
      this.operations ??= this.names.all();
      if (this.operations.has(operationIdOfCode(code))) return path.replace(/(?:\$|%24):code$/, () => `$${code}`);
    }
    return path.replace(/(?<=.)\/$/, '');
  }
}
