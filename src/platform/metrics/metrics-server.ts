import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { once } from 'node:events';
import { type AddressInfo } from 'node:net';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Environment } from '../config/environment';
import { StartError } from '../errors/start-error';
import { EXPOSITION_TYPE, expositionOf } from './exposition';
import { type MetricFamily } from './metric-family';
import { METRIC_PATHS, type MetricPath } from './metric-source';

const MAX_CONNECTIONS = 32;
const REQUEST_TIMEOUT_MILLISECONDS = 5_000;
const IDLE_TIMEOUT_MILLISECONDS = 75_000;

/** Reads the metrics of one process, or of all processes of a server. */
export abstract class MetricsReader {
  abstract read(path: MetricPath): Promise<readonly MetricFamily[]>;
}

/**
 * Serves `/metrics`, `/metrics/minutes` and `/metrics/hours` on a separate port, without credentials: everybody who can
 * reach the port may read. It listens only if `SVC_METRICS_PORT` is set, and on the loopback unless `SVC_METRICS_HOST`
 * is set.
 */
@Injectable()
export class MetricsServer implements OnApplicationShutdown {
  private readonly logger = new Logger(MetricsServer.name);
  private server: Server | undefined;

  constructor(
    private readonly metrics: MetricsReader,
    private readonly environment: Environment,
  ) {}

  /** Undefined while it does not listen. */
  get port(): number | undefined {
    return (this.server?.address() as AddressInfo | null | undefined)?.port;
  }

  /** Does nothing without `SVC_METRICS_PORT`. @throws StartError if the port is in use */
  async listen(): Promise<void> {
    const { metricsPort, metricsHost } = this.environment;
    if (metricsPort === undefined) return;
    const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MILLISECONDS }, (request, response) => {
      void this.answer(request, response);
    });
    server.maxConnections = MAX_CONNECTIONS;
    server.setTimeout(IDLE_TIMEOUT_MILLISECONDS);
    await once(server.listen(metricsPort, metricsHost), 'listening').catch((error: unknown) => {
      throw new StartError(
        `Metrics cannot be served (SVC_METRICS_PORT, SVC_METRICS_HOST): ${(error as Error).message}`,
      );
    });
    this.server = server;
    this.logger.log(`Metrics on ${metricsHost}:${this.port ?? metricsPort}/metrics`);
  }

  /** Stops listening. This is done after deliveries have ended, so that the last metrics of a server can be scraped. */
  onApplicationShutdown(): void {
    this.server?.close();
    this.server?.closeAllConnections();
  }

  private async answer({ method, url = '' }: IncomingMessage, response: ServerResponse): Promise<void> {
    const [asked] = url.split('?');
    const path = METRIC_PATHS.find((known) => known === asked);
    if (method !== 'GET' && method !== 'HEAD') {
      sendText(response.setHeader('Allow', 'GET, HEAD'), 405, 'Metrics are read with GET.\n');
    } else if (path !== undefined) {
      sendText(response.setHeader('Content-Type', EXPOSITION_TYPE), 200, expositionOf(await this.metrics.read(path)));
    } else if (asked === '/') {
      sendText(response, 200, `Metrics: ${METRIC_PATHS.join(', ')}\n`);
    } else {
      sendText(response, 404, `There are ${METRIC_PATHS.join(', ')}.\n`);
    }
  }
}

function sendText(response: ServerResponse, status: number, text: string): void {
  if (!response.hasHeader('Content-Type')) response.setHeader('Content-Type', 'text/plain; charset=utf-8');
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.writeHead(status, { 'Content-Length': Buffer.byteLength(text), 'Cache-Control': 'no-store' }).end(text);
}
