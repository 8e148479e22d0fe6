import { type Server, type ServerResponse } from 'node:http';
import { Server as Listener } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Environment } from '../config/environment';

/** Time after which idle connections are closed. Active clients disconnect earlier, with their next response. */
const LEAVE_MILLISECONDS = 1000;
const POLL_MILLISECONDS = 20;

/**
 * Takes a server out of service without losing a request. Readiness fails first, so that proxies send no more requests.
 * Then each response has `Connection: close`. Idle connections are closed last, since a client may be sending a request
 * on one.
 */
@Injectable()
export class Drain {
  /** False after the signal. */
  isReady = true;
  private isClosing = false;
  private readonly open = new Set<ServerResponse>();

  constructor(private readonly environment: Environment) {}

  /** Call it once, before the server listens. */
  watch(server: Server): void {
    server.keepAliveTimeout = this.environment.keepAliveSeconds * 1000;
    server.headersTimeout = this.environment.headerTimeoutSeconds * 1000;
    server.prependListener('request', (_request, response: ServerResponse) => {
      if (this.isClosing) response.setHeader('Connection', 'close');
      this.open.add(response);
      response.once('close', () => this.open.delete(response));
    });
  }

  /** Returns when the port is closed. Requests in flight then have `SVC_SHUTDOWN_SECONDS`. */
  async run(server: Server): Promise<void> {
    const { drainSeconds, shutdownSeconds } = this.environment;
    this.isReady = false;
    // After a retirement no client can connect, so there is nothing to announce.
    if (!this.isClosing) await delay(drainSeconds * 1000);
    this.closeByAnswers();
    const endsAt = performance.now() + LEAVE_MILLISECONDS;
    while ((await connectionsOf(server)) > 0 && performance.now() < endsAt) await delay(POLL_MILLISECONDS);
    server.close();
    setTimeout(() => {
      server.closeAllConnections();
    }, shutdownSeconds * 1000).unref();
  }

  /**
   * Hands all clients over to other processes on the same port. Readiness does not change, since the server as a whole
   * continues. Each connection ends with its next response, or after the longest keep-alive time: a request sent
   * meanwhile is answered.
   */
  async retire(server: Server): Promise<void> {
    this.closeByAnswers();
    // `close` of HTTP servers ends idle connections too.
    Listener.prototype.close.call(server);
    const endsAt = performance.now() + this.environment.keepAliveSeconds * 1000 + LEAVE_MILLISECONDS;
    while (this.isReady && (await connectionsOf(server)) > 0 && performance.now() < endsAt) {
      await delay(POLL_MILLISECONDS);
    }
  }

  private closeByAnswers(): void {
    this.isClosing = true;
    for (const response of this.open) if (!response.headersSent) response.setHeader('Connection', 'close');
  }
}

const connectionsOf = (server: Server): Promise<number> =>
  new Promise((resolve, reject) => {
    server.getConnections((error, count) => {
      if (error === null) resolve(count);
      else reject(error);
    });
  });
