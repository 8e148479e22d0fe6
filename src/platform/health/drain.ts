import { type Server, type ServerResponse } from 'node:http';
import { type Duplex } from 'node:stream';
import { Server as Listener } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Injectable } from '@nestjs/common';
import { Environment } from '../config/environment';

/**
 * How long after the first `Connection: close` idle connections are closed. Connections with requests close earlier,
 * after their next response.
 */
const LEAVE_MILLISECONDS = 1000;
const POLL_MILLISECONDS = 20;

/**
 * Takes a server out of service without losing a request. First, readiness fails, so that proxies send no more
 * requests. Then each response has `Connection: close`. Idle connections are closed last, since a client may just be
 * sending a request on one of them.
 */
@Injectable()
export class Drain {
  /** Whether `/health/ready` succeeds; false after the signal to stop. */
  isReady = true;
  private isClosing = false;
  /**
   * The responses that have not ended. Each is in an object that is emptied at the end of the response, since V8 links
   * a full table of a Set to the next one: a dead table in the old generation keeps all later ones with their members
   * (ADR 0072).
   */
  private readonly open = new Set<{ response: ServerResponse | undefined }>();

  constructor(private readonly environment: Environment) {}

  /** Prepares the HTTP server. Call it once, before the server listens. */
  watch(server: Server): void {
    server.keepAliveTimeout = this.environment.keepAliveSeconds * 1000;
    server.headersTimeout = this.environment.headerTimeoutSeconds * 1000;
    server.prependListener('request', (_request, response: ServerResponse) => {
      if (this.isClosing) response.setHeader('Connection', 'close');
      const answer: { response: ServerResponse | undefined } = { response };
      this.open.add(answer);
      response.once('close', () => {
        this.open.delete(answer);
        answer.response = undefined;
      });
    });
  }

  /** The unfinished responses of a connection, in the order of their requests. */
  responsesOn(socket: Duplex): readonly ServerResponse[] {
    return [...this.open].flatMap(({ response }) => (response?.req.socket === socket ? [response] : []));
  }

  /**
   * Drains the server. Resolves when the port is closed. Requests that still run then have `SVC_SHUTDOWN_SECONDS` to
   * end.
   */
  async run(server: Server): Promise<void> {
    const { drainSeconds, shutdownSeconds } = this.environment;
    this.isReady = false;
    // After {@link retire} no client can connect, so failing readiness first would be useless.
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
   * Lets other processes on the same port take over all clients. Readiness does not change, since the server as a whole
   * continues. Each connection is closed after its next response, or after the longest keep-alive time, so a request
   * that is sent meanwhile is still answered.
   */
  async retire(server: Server): Promise<void> {
    this.closeByAnswers();
    // Calls `close` of the base class, since `close` of HTTP servers would also close idle connections.
    Listener.prototype.close.call(server);
    const endsAt = performance.now() + this.environment.keepAliveSeconds * 1000 + LEAVE_MILLISECONDS;
    while (this.isReady && (await connectionsOf(server)) > 0 && performance.now() < endsAt) {
      await delay(POLL_MILLISECONDS);
    }
  }

  private closeByAnswers(): void {
    this.isClosing = true;
    for (const { response } of this.open)
      if (response?.headersSent === false) response.setHeader('Connection', 'close');
  }
}

const connectionsOf = (server: Server): Promise<number> => promisify(server.getConnections.bind(server))();
