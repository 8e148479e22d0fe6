import { Injectable } from '@nestjs/common';
import { type NextFunction, type Request, type Response } from 'express';
import { Environment } from '../config/environment';
import { writeAccessLine } from '../logging/context-logger';
import { Histogram } from '../metrics/histogram';
import { family, type MetricFamily } from '../metrics/metric-family';
import { MetricsFrom, type MetricSource } from '../metrics/metric-source';
import { type Span, Tracing } from '../tracing/tracing';
import { type PresentRequest, RequestContext } from '../request/request-context';
import { OperationNames } from './operation-names';
import { operationIdOfCode } from './route-access';

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const STATUS_CLASSES = ['2xx', '3xx', '4xx', '5xx'];
/** The status class of responses that were not sent whole, because the client disconnected or the server ended them. */
const CUT = 'cut';
/** Logged if the client disconnected before the response, as by nginx. */
const CLIENT_LEFT = 499;

/** Logs and measures each request at the end of its response. Entries of a Bundle are not logged separately. */
@Injectable()
@MetricsFrom({ source: 'answers', path: '/metrics' })
export class Answers implements MetricSource {
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
    private readonly tracing: Tracing,
  ) {
    this.isLogged = hasAccessLog && logLevel !== 'error' && logLevel !== 'warn';
  }

  /** Mount it after the request context. */
  readonly watch = (request: Request, response: Response, next: NextFunction): void => {
    const { present } = this.requests;
    if (present?.origin === request) {
      const startedAt = performance.now();
      const { socket } = request;
      const sentBefore = socket.bytesWritten;
      const { traceparent } = request.headers;
      const span = this.tracing.request(typeof traceparent === 'string' ? traceparent : undefined);
      if (span !== undefined) this.requests.trace(span);
      response.on('close', () => {
        this.end(present, span, response, performance.now() - startedAt, socket.bytesWritten - sentBefore);
      });
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

  private end(
    present: PresentRequest,
    span: Span | undefined,
    response: Response,
    milliseconds: number,
    bytes: number,
  ): void {
    const isCut = !response.writableFinished;
    const status = response.headersSent ? response.statusCode : CLIENT_LEFT;
    const { req: request } = response;
    const route = this.templateOf(request);
    const method = METHODS.has(request.method) ? request.method : 'other';
    this.times
      .of({ method, route, status: isCut ? CUT : `${Math.trunc(status / 100)}xx` })
      .observe(milliseconds / 1000);
    if (span !== undefined) {
      span.updateName(`${method} ${route}`);
      const attributes = { 'http.request.method': method, 'http.route': route, 'http.response.status_code': status };
      this.tracing.end(span, isCut || status >= 500 ? String(status) : undefined, attributes);
    }
    if (!this.isLogged) return;
    const { caller, claimed, requestId, correlationId } = present;
    // `claimed` is the User who logged in. Only the token endpoint sets it, since its requests have no caller.
    const { userId: user, clientId: client } = caller ?? (status < 400 ? claimed : undefined) ?? {};
    const message = {
      ...{ event: 'request', method, route, status, milliseconds: Math.round(milliseconds * 10) / 10, bytes },
      isCut: isCut || undefined,
      ...{ user, client },
    };
    writeAccessLine(message, { requestId, correlationId, traceId: span?.spanContext().traceId });
  }

  /** The route as declared, without values of the URL. A known operation has its name in it. */
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
