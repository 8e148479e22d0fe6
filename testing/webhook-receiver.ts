import { setTimeout as delay } from 'node:timers/promises';
import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  createServer,
} from 'node:http';
import { type AddressInfo } from 'node:net';

/** A request as it was received. */
export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: string;
  /** Time of the end of the request, in milliseconds of a monotonic clock. */
  readonly at: number;
  /** Number of the connection on which the request came. Requests with the same number used the same connection. */
  readonly connection: number;
}

export interface NotificationBody {
  readonly resourceType: string;
  readonly type: string;
  readonly timestamp: string;
  readonly entry: readonly [
    {
      readonly resource: {
        readonly notificationEvent: readonly {
          readonly eventNumber: number;
          readonly focus: { readonly reference: string };
          readonly correlationId?: string;
        }[];
        readonly [member: string]: unknown;
      };
    },
    ...Readonly<Record<string, unknown>>[],
  ];
}

/**
 * How the receiver answers a request. Given behaviors are used in order, one for each request; afterwards the receiver
 * answers 200.
 */
export type Behavior =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
    }
  | { readonly kind: 'slow'; readonly milliseconds: number }
  /** Answers with the status that `statusOf` returns for the body. */
  | { readonly kind: 'judged'; readonly statusOf: (body: string) => number }
  /** Waits until `release` is called, then answers; the default status is 200. */
  | { readonly kind: 'held'; readonly status?: number }
  /** Never answers. */
  | { readonly kind: 'hang' }
  /** Ends the connection without an answer. */
  | { readonly kind: 'reset' }
  /** Sends the head of an answer byte by byte, without end. */
  | { readonly kind: 'drip' }
  /** Answers 200 with a body that never ends. */
  | { readonly kind: 'endless' };

/**
 * A webhook endpoint on loopback. It records all requests, and answers as its {@link Behavior} says, which may be a
 * failure.
 * @example
 * const receiver = await WebhookReceiver.start();
 * const { url } = receiver; // the endpoint of a destination
 * await receiver.stop();
 */
export class WebhookReceiver {
  readonly requests: ReceivedRequest[] = [];
  /** Number of requests that are open now, and their largest number at any time. */
  open = 0;
  mostAtOnce = 0;
  private readonly behaviors: Behavior[] = [];
  private readonly held: { readonly response: ServerResponse; readonly status: number }[] = [];
  private usual: Behavior = { kind: 'answer', status: 200 };
  private connections = 0;
  private readonly numbers = new WeakMap<object, number>();

  private constructor(private readonly server: Server) {
    server.on('request', (request, response) => void this.receive(request, response));
    server.on('connection', (socket) => this.numbers.set(socket, ++this.connections));
    server.on('clientError', (_error, socket) => socket.destroy());
  }

  static async start(port = 0): Promise<WebhookReceiver> {
    const server = createServer({ keepAliveTimeout: 600_000 });
    const receiver = new WebhookReceiver(server);
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    server.unref(); // a test that fails before `stop` must not keep the process of its test runner alive
    return receiver;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook`;
  }

  /** Sets the behaviors of the next requests, one for each. */
  next(...behaviors: readonly Behavior[]): void {
    this.behaviors.push(...behaviors);
  }

  /** Sets the behavior of all later requests. */
  always(behavior: Behavior): void {
    this.behaviors.length = 0;
    this.usual = behavior;
  }

  /** Answers the requests that are held: all of them, or the first `count`. */
  release(count = this.held.length): void {
    for (const { response, status } of this.held.splice(0, count)) response.writeHead(status).end();
  }

  /**
   * The request with this index.
   * @throws Error if fewer requests were received
   */
  request(index: number): ReceivedRequest {
    const request = this.requests[index];
    if (request === undefined) throw new Error(`${this.requests.length} requests came, number ${index} is missing`);
    return request;
  }

  get bodies(): NotificationBody[] {
    return this.requests.map(({ body }) => JSON.parse(body) as NotificationBody);
  }

  /** References of all events, in the order in which they arrived. Those of repeated batches are included. */
  get references(): string[] {
    return this.bodies.flatMap(({ entry: [status] }) =>
      status.resource.notificationEvent.map(({ focus }) => focus.reference),
    );
  }

  /** Ends the connections on which no request is open. */
  closeIdleConnections(): void {
    this.server.closeIdleConnections();
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.mostAtOnce = Math.max(this.mostAtOnce, ++this.open);
    response.on('close', () => this.open--);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = '', url = '', headers, rawHeaders } = request;
    const connection = this.numbers.get(request.socket) ?? 0;
    const body = Buffer.concat(chunks).toString();
    this.requests.push({ method, path: url, headers, rawHeaders, body, at: performance.now(), connection });
    const behavior = this.behaviors.shift() ?? this.usual;
    if (behavior.kind === 'judged') response.writeHead(behavior.statusOf(body)).end();
    else await this.behave(behavior, request, response);
  }

  private async behave(
    behavior: Exclude<Behavior, { kind: 'judged' }>,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    switch (behavior.kind) {
      case 'answer':
        response.writeHead(behavior.status, behavior.headers).end(behavior.body);
        return;
      case 'slow':
        await delay(behavior.milliseconds);
        response.writeHead(200).end();
        return;
      case 'held':
        this.held.push({ response, status: behavior.status ?? 200 });
        return;
      case 'hang':
        return;
      case 'reset':
        request.socket.destroy();
        return;
      case 'drip':
        request.socket.write('HTTP/1.1 200 OK\r\nX-Drip: ');
        while (!request.socket.destroyed) {
          request.socket.write('x');
          await delay(100);
        }
        return;
      case 'endless':
        response.writeHead(200);
        while (!response.destroyed) {
          response.write('x'.repeat(1024));
          await delay(20);
        }
        return;
    }
  }
}
