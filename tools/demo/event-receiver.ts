import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { listAt, stringAt, valueAt } from './value-at';

export interface ReceivedEvent {
  readonly eventNumber: number;
  /** `Type/id` of the changed resource. */
  readonly focus: string;
  readonly request: string;
  readonly versionId: unknown;
}

/** A webhook endpoint on this machine that stores what it receives. */
export class EventReceiver {
  /** The received events by event number. Delivery is at least once, so an event that is repeated replaces itself. */
  readonly events = new Map<number, ReceivedEvent>();
  /** Number of POST requests received. */
  notificationCount = 0;

  private constructor(
    private readonly server: Server,
    private readonly header: { readonly name: string; readonly value: string },
  ) {}

  /** Listens on a free port of the loopback address; a request without `header` is refused with 401. */
  static async start(header: { readonly name: string; readonly value: string }): Promise<EventReceiver> {
    const server = createServer();
    const receiver = new EventReceiver(server, header);
    server.on('request', (request, response) => {
      receiver.receive(request).then(
        (status) => response.writeHead(status).end(),
        () => response.writeHead(400).end(),
      );
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(0, '127.0.0.1', resolve);
    });
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/events`;
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }

  private async receive(request: IncomingMessage): Promise<number> {
    const body = await text(request);
    if (request.headers[this.header.name.toLowerCase()] !== this.header.value) return 401;
    this.notificationCount += 1;
    for (const event of eventsOf(JSON.parse(body))) this.events.set(event.eventNumber, event);
    return 200;
  }
}

/** Reads a notification: the first entry lists the events, the others follow in the same order. */
function eventsOf(bundle: unknown): ReceivedEvent[] {
  return listAt(bundle, 'entry', 0, 'resource', 'notificationEvent').map((event, index) => {
    const entry = valueAt(bundle, 'entry', index + 1);
    return {
      eventNumber: Number(valueAt(event, 'eventNumber')),
      focus: stringAt(event, 'focus', 'reference'),
      request: `${stringAt(entry, 'request', 'method')} ${stringAt(entry, 'request', 'url')}`,
      versionId: valueAt(entry, 'resource', 'meta', 'versionId'),
    };
  });
}
