import { type IncomingMessage, type Server, createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** When an event reached a destination, in milliseconds of `performance.now()`. */
export interface EventArrival {
  /** When the head of the request that contained the event arrived. */
  readonly headAt: number;
  /** When the last byte of that request arrived. */
  readonly wholeAt: number;
}

const FOCUS = /"focus":\{"reference":"([^"]+)"\}/g;

/** Webhook endpoints on the loopback that respond at once, usually 200, and record when each resource first arrived. */
export class ArrivalReceiver {
  private readonly arrivals = new Map<string, EventArrival>();
  private readonly refusing = new Set<string>();
  private readonly refused = new Set<string>();

  private constructor(private readonly server: Server) {
    server.on('request', (request, response) => {
      void this.receive(request).then((status) => response.writeHead(status).end());
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

  /** Answers 500 to the first notification of each event of a destination; the event counts as arrived on its retry. */
  refuseEachOnce(destinationId: string): void {
    this.refusing.add(`/${destinationId}`);
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async receive(request: IncomingMessage): Promise<number> {
    const headAt = performance.now();
    const path = request.url ?? '';
    const body = await text(request);
    const wholeAt = performance.now();
    const keys = [...body.matchAll(FOCUS)].map(([, reference = '']) => keyOf(path, reference));
    if (this.refusing.has(path) && keys.some((key) => !this.refused.has(key))) {
      for (const key of keys) this.refused.add(key);
      return 500;
    }
    for (const key of keys) if (!this.arrivals.has(key)) this.arrivals.set(key, { headAt, wholeAt });
    return 200;
  }
}

const keyOf = (path: string, reference: string): string => `${path} ${reference}`;
