import { createHash } from 'node:crypto';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type Random } from '../chart/random';

/** A received notification. */
export interface Arrival {
  readonly destination: string;
  /** The value of `webhook-id`. */
  readonly batchId: string;
  readonly bodyHash: string;
  /** The delivery generation. */
  readonly generation: string;
  /** When the request was complete, in milliseconds of a monotonic clock. */
  readonly at: number;
  readonly events: readonly { readonly number: number; readonly key: string }[];
  /** Whether a 2xx was fully written, so that the sender could read it. */
  isAnswered: boolean;
}

/** How a destination handles notifications. */
type Temper = 'good' | 'slow' | 'flaky' | 'dead';

/** The tempers, which are assigned to the destinations in rotation. */
const TEMPERS: readonly Temper[] = ['good', 'slow', 'flaky', 'dead'];

/** How long a `dead` destination is dead, and how long it is alive afterwards. */
const DEAD_SECONDS = 40;
const ALIVE_SECONDS = 20;

/** The webhooks of a chaos run. They record each arrival, whatever they answer. */
export class FaultyReceiver {
  readonly arrivals: Arrival[] = [];
  /** Destinations that had two requests open at once. */
  readonly overlaps: string[] = [];
  /** The number of requests to the target of a redirect. */
  trapHits = 0;
  /** If true, every notification is accepted. */
  isHealed = false;
  private readonly open = new Map<string, Set<ServerResponse>>();
  private readonly latestAt = new Map<string, number>();
  private readonly startedAt = performance.now();

  private constructor(
    private readonly server: Server,
    private readonly random: Random,
    /** Ids of all destinations. */
    readonly destinations: readonly string[],
  ) {
    server.on('request', (request, response) => {
      this.receive(request, response).catch(() => response.destroy());
    });
    server.on('clientError', (_error, socket) => socket.destroy());
  }

  static async start(random: Random, count: number): Promise<FaultyReceiver> {
    const server = createServer({ keepAliveTimeout: 120_000 });
    const receiver = new FaultyReceiver(
      server,
      random,
      Array.from({ length: count }, (_value, index) => `d${index + 1}`),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  urlOf(destination: string): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/${destination}`;
  }

  /** Destinations with an unanswered request. */
  get pending(): readonly string[] {
    return [...this.open].filter(([, responses]) => responses.size > 0).map(([destination]) => destination);
  }

  /** Resolves with the time of the next arrival at a destination. */
  async nextAt(destination: string, since: number): Promise<number> {
    for (;;) {
      const at = this.latestAt.get(destination) ?? 0;
      if (at > since) return at;
      await delay(5);
    }
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const destination = (request.url ?? '').slice(1);
    if (destination === 'trap') {
      this.trapHits++;
      response.end();
      return;
    }
    const others = this.open.get(destination) ?? new Set();
    this.open.set(destination, others);
    // The receiver may read the end of a killed server's connection shortly after the request of its successor.
    const before = [...others];
    if (before.length > 0) {
      await delay(20);
      if (before.some((other) => others.has(other))) this.overlaps.push(destination);
    }
    others.add(response);
    response.on('close', () => others.delete(response));
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const arrival: Arrival = {
      destination,
      batchId: String(request.headers['webhook-id']),
      bodyHash: createHash('sha256').update(body).digest('hex'),
      at: performance.now(),
      ...contentOf(body),
      isAnswered: false,
    };
    this.arrivals.push(arrival);
    this.latestAt.set(destination, arrival.at);
    await this.behave(this.temperOf(destination), arrival, response);
  }

  private temperOf(destination: string): Temper {
    const temper = TEMPERS[this.destinations.indexOf(destination) % TEMPERS.length] ?? 'good';
    if (this.isHealed) return 'good';
    if (temper !== 'dead') return temper;
    const seconds = (performance.now() - this.startedAt) / 1000;
    return seconds % (DEAD_SECONDS + ALIVE_SECONDS) < DEAD_SECONDS ? 'dead' : 'good';
  }

  private async behave(temper: Temper, arrival: Arrival, response: ServerResponse): Promise<void> {
    const { random } = this;
    const accept = (): void => {
      response.writeHead(200).end(() => (arrival.isAnswered = true));
    };
    if (temper === 'dead') {
      response.writeHead(503).end();
    } else if (temper === 'slow') {
      await delay(random.integer(5, 80));
      accept();
    } else if (temper === 'flaky' && random.chance(0.3)) {
      const fault = random.integer(0, 5);
      if (fault === 0) response.writeHead(500).end();
      else if (fault === 1) response.writeHead(503, { 'Retry-After': '1' }).end();
      else if (fault === 2) response.writeHead(307, { Location: this.urlOf('trap') }).end();
      // The notification is processed, but the sender receives no response.
      else if (fault === 3) response.destroy();
      else if (fault === 4) await delay(random.integer(100, 600)).then(accept);
      // Fault 5 never responds.
    } else {
      accept();
    }
  }
}

interface Notification {
  readonly entry: readonly [
    {
      readonly resource: {
        readonly extension: readonly [{ readonly valueUuid: string }];
        readonly notificationEvent: readonly {
          readonly eventNumber: number;
          readonly focus: { readonly reference: string };
        }[];
      };
    },
  ];
}

/** Reads the generation and the events of a notification. Keys look like `Patient/p1/3`. */
function contentOf(body: Buffer): Pick<Arrival, 'generation' | 'events'> {
  const { extension, notificationEvent } = (JSON.parse(body.toString()) as Notification).entry[0].resource;
  const events = notificationEvent.map(({ eventNumber, focus }) => ({
    number: eventNumber,
    key: focus.reference.replace('/_history/', '/'),
  }));
  return { generation: extension[0].valueUuid, events };
}
