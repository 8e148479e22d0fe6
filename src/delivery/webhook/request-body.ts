import { once } from 'node:events';
import * as http from 'node:http';
import * as https from 'node:https';
import { type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { AxiosError } from 'axios';
import { type Notification, type Outgoing } from '../delivery-kind';
import { type WebhookHeaders } from './webhook-headers';

/** How many bytes are written between two reports of progress (`Outgoing.progress`). */
const PIECE_BYTES = 65_536;

/**
 * The body of one request. It is rendered when the connection (including TLS) is ready, read once, and released when
 * the socket has taken it. So attempts that wait for a connection or a response have no body in memory. It is a stream:
 * a Buffer would stay in the configuration that axios keeps until the response.
 */
export class RequestBody {
  private request: http.ClientRequest | undefined;
  readonly stream: Readable;

  constructor(
    private readonly outgoing: Outgoing,
    private readonly headersOf: (notification: Notification) => WebhookHeaders,
  ) {
    this.stream = Readable.from(this.pieces(), { objectMode: false, highWaterMark: PIECE_BYTES });
  }

  /** Creates the HTTP request for axios. axios then pipes the stream into the request. */
  readonly transport = {
    request: (options: https.RequestOptions, onAnswer: (answer: http.IncomingMessage) => void): http.ClientRequest => {
      this.request = (options.protocol === 'https:' ? https : http).request(options, onAnswer);
      this.request.once('finish', () => {
        this.outgoing.release();
      });
      return this.request;
    },
  };

  /** Ends the request, even if the socket has not taken its body. */
  end(): void {
    this.stream.destroy();
    if (this.request?.writableFinished === false) this.request.destroy();
  }

  /** Whether the request reused an idle connection that the peer was closing. Source: Node's docs of `reusedSocket`. */
  metClosingConnection(error: unknown): boolean {
    const code = error instanceof AxiosError ? error.code : undefined;
    return this.request?.reusedSocket === true && (code === 'ECONNRESET' || code === 'EPIPE');
  }

  private async *pieces(): AsyncGenerator<Buffer> {
    const { request, outgoing } = this;
    if (request === undefined) return;
    const socket = request.socket ?? ((await once(request, 'socket')) as [Socket])[0];
    if (!request.reusedSocket) {
      outgoing.release();
      await once(socket, socket instanceof TLSSocket ? 'secureConnect' : 'connect');
    }
    const notification = await outgoing.render();
    const { body } = notification;
    for (const [name, value] of Object.entries(this.headersOf(notification))) request.setHeader(name, value);
    request.setHeader('content-length', body.length);
    for (let offset = 0; offset < body.length; offset += PIECE_BYTES) {
      outgoing.progress();
      yield body.subarray(offset, offset + PIECE_BYTES);
    }
  }
}
