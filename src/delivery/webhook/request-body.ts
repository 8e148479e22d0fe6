import * as http from 'node:http';
import * as https from 'node:https';
import { type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { type Notification, type Outgoing } from '../delivery-kind';

type Headers = Readonly<Record<string, string | string[]>>;

/** What the slowest sender has to take in 10 s (`Outgoing.progress`). */
const PIECE_BYTES = 65_536;

/**
 * The body of one request. It is rendered when the connection is ready (dialled, TLS included), read once, and gone when
 * the socket took it: an attempt that waits to connect or for its answer holds none. A Buffer would stay in the
 * configuration that axios keeps until the answer.
 */
export class RequestBody extends Readable {
  request: http.ClientRequest | undefined;
  private rest: Buffer | undefined;

  constructor(
    private readonly outgoing: Outgoing,
    private readonly headersOf: (notification: Notification) => Headers,
  ) {
    super({ highWaterMark: PIECE_BYTES });
  }

  /** Makes the request for axios; its head goes out with the first bytes of the body. */
  readonly transport = {
    request: (options: https.RequestOptions, onAnswer: (answer: http.IncomingMessage) => void): http.ClientRequest => {
      const request = (options.protocol === 'https:' ? https : http).request(options, onAnswer);
      this.request = request;
      request.once('finish', () => {
        this.outgoing.release();
      });
      request.once('socket', (socket) => {
        this.whenReady(request, socket);
      });
      return request;
    },
  };

  /** Ends the request too where its body was not taken. */
  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.rest = undefined;
    if (this.request?.writableFinished === false) this.request.destroy();
    callback(error);
  }

  override _read(): void {
    if (this.rest === undefined) return;
    this.outgoing.progress();
    const piece = this.rest.subarray(0, PIECE_BYTES);
    this.rest = this.rest.subarray(PIECE_BYTES);
    if (piece.length > 0) this.push(piece);
    if (this.rest.length > 0) return;
    this.rest = undefined;
    this.push(null);
  }

  private whenReady(request: http.ClientRequest, socket: Socket): void {
    const begin = (): void => {
      this.begin(request).catch((error: unknown) => this.destroy(error as Error));
    };
    if (request.reusedSocket) {
      begin();
      return;
    }
    this.outgoing.release();
    socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', begin);
  }

  private async begin(request: http.ClientRequest): Promise<void> {
    const notification = await this.outgoing.render();
    if (this.destroyed) return;
    const { body } = notification;
    for (const [name, value] of Object.entries(this.headersOf(notification))) request.setHeader(name, value);
    request.setHeader('content-length', body.length);
    this.rest = body;
    this._read();
  }
}
