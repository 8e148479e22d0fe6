import { type IncomingMessage, type Server, createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** When an event reached a destination, in milliseconds of `performance.now()`. */
export interface EventArrival {
  /** The head of the request that brought it. */
  readonly headAt: number;
  /** Its last byte. */
  readonly wholeAt: number;
}

const FOCUS = /"focus":\{"reference":"([^"]+)"\}/g;

/** Webhook endpoints on the loopback that answer 200 at once and remember when each resource came first. */
export class ArrivalReceiver {
  private readonly arrivals = new Map<string, EventArrival>();

  private constructor(private readonly server: Server) {
    server.on('request', (request, response) => {
      void this.receive(request).finally(() => response.end());
    });
  }

  static async start(): Promise<ArrivalReceiver> {
    const server = createServer({ keepAliveTimeout: 120_000 });
    const receiver = new ArrivalReceiver(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  urlOf(destinationId: string): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/${destinationId}`;
  }

  arrivalAt(destinationId: string, reference: string): EventArrival | undefined {
    return this.arrivals.get(keyOf(`/${destinationId}`, reference));
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async receive(request: IncomingMessage): Promise<void> {
    const headAt = performance.now();
    const body = await text(request);
    const wholeAt = performance.now();
    for (const [, reference = ''] of body.matchAll(FOCUS)) {
      const key = keyOf(request.url ?? '', reference);
      if (!this.arrivals.has(key)) this.arrivals.set(key, { headAt, wholeAt });
    }
  }
}

const keyOf = (path: string, reference: string): string => `${path} ${reference}`;
