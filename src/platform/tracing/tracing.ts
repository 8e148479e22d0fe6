import { createRequire } from 'node:module';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import type * as OpenTelemetry from '@opentelemetry/api';
import { Environment } from '../config/environment';
import { isSystemError } from '../errors/system-error';
import { softwareVersion } from '../software-version';

export type Span = OpenTelemetry.Span;
type Api = typeof OpenTelemetry;
type Attributes = Readonly<Record<string, string | number>>;

interface Sdk {
  start(): void;
  shutdown(): Promise<void>;
}

const TRACER = 'svc-health-server';

/**
 * Records spans of OpenTelemetry. Users install the packages of OpenTelemetry. Without these packages, or unless its
 * variables turn traces on, there are no spans. Names and attributes follow its semantic conventions. Attributes with a
 * URL, a statement text or an error message are left out, since these may contain patient data (ADR 0067).
 */
@Injectable()
export class Tracing implements OnApplicationShutdown {
  private readonly logger = new Logger(Tracing.name);
  private readonly sdk: Sdk | undefined;
  /** Undefined unless spans are recorded. */
  private readonly api: Api | undefined;

  constructor({ isTraced }: Environment) {
    if (isTraced) this.sdk = this.startSdk();
    const api = installed('@opentelemetry/api') as Api | undefined;
    if (api !== undefined && takesSpans(api)) this.api = api;
  }

  get isOn(): boolean {
    return this.api !== undefined;
  }

  /** @param traceparent the header of the caller (https://www.w3.org/TR/trace-context/) */
  request(traceparent: string | undefined): Span | undefined {
    const { api } = this;
    if (api === undefined) return undefined;
    const parent = api.propagation.extract(api.ROOT_CONTEXT, { traceparent });
    return this.begin(api, 'request', api.SpanKind.SERVER, {}, parent);
  }

  /** Only statements of requests have spans: those of background work would be thousands of traces of one span. */
  statement(name: string, parent: Span): Span | undefined {
    const { api } = this;
    if (api === undefined) return undefined;
    const attributes = { 'db.system.name': 'postgresql', 'db.query.summary': name };
    return this.begin(api, name, api.SpanKind.CLIENT, attributes, api.trace.setSpan(api.ROOT_CONTEXT, parent));
  }

  /**
   * Begins the span of a delivery attempt.
   * @param causes the spans of the requests whose events the attempt may deliver; the first is the parent, the others
   * are links
   */
  attempt(destination: string, events: number, causes: readonly Span[] = []): Span | undefined {
    const { api } = this;
    if (api === undefined) return undefined;
    const [parent, ...others] = causes;
    const context = parent === undefined ? api.ROOT_CONTEXT : api.trace.setSpan(api.ROOT_CONTEXT, parent);
    const attributes = { 'svc.destination': destination, 'messaging.batch.message_count': events };
    const links = others.map((span) => ({ context: span.spanContext() }));
    return this.begin(api, 'deliver', api.SpanKind.CLIENT, attributes, context, links);
  }

  /** @param failure an HTTP status or SQLSTATE; undefined after a success */
  end(span: Span | undefined, failure?: string, attributes: Attributes = {}): void {
    if (span === undefined || this.api === undefined) return;
    span.setAttributes(attributes);
    if (failure !== undefined) {
      span.setAttribute('error.type', failure);
      span.setStatus({ code: this.api.SpanStatusCode.ERROR });
    }
    span.end();
  }

  /** Sends the buffered spans. */
  async onApplicationShutdown(): Promise<void> {
    await this.sdk?.shutdown().catch((error: unknown) => {
      this.logger.warn(`Spans were lost: ${error instanceof Error ? error.name : 'unknown error'}`);
    });
  }

  private begin(
    api: Api,
    name: string,
    kind: OpenTelemetry.SpanKind,
    attributes: Attributes,
    context: OpenTelemetry.Context,
    links: OpenTelemetry.Link[] = [],
  ): Span {
    return api.trace.getTracer(TRACER, softwareVersion()).startSpan(name, { kind, attributes, links }, context);
  }

  private startSdk(): Sdk | undefined {
    const packages = installed('@opentelemetry/sdk-node') as { NodeSDK: new () => Sdk } | undefined;
    if (packages === undefined) {
      this.logger.warn(
        'OTEL_… turns traces on, but a package is missing: npm install @opentelemetry/api @opentelemetry/sdk-node',
      );
      return undefined;
    }
    const sdk = new packages.NodeSDK();
    sdk.start();
    return sdk;
  }
}

/** The header `traceparent`, which makes the spans of the receiver children of this span. */
export function traceparentOf(span: Span | undefined): string | undefined {
  if (span === undefined) return undefined;
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

/** Loads a package of the user; undefined if it is not installed. */
function installed(name: string): unknown {
  try {
    return createRequire(__filename)(name);
  } catch (error) {
    if (isSystemError(error, 'MODULE_NOT_FOUND')) return undefined;
    throw error;
  }
}

/**
 * Whether spans are recorded, which their ids show. Spans have ids only if an SDK was started, here or by a script of
 * the user.
 */
const takesSpans = ({ trace, isSpanContextValid }: Api): boolean =>
  isSpanContextValid(trace.getTracer(TRACER).startSpan('start').spanContext());
