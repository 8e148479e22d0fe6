import { type IncomingMessage, type Server, createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/**
 * The text that is counted as one event: it occurs once in each stored resource, and nowhere else in a notification.
 */
const EVENT_MARK = Buffer.from('"meta":{"versionId":"');

interface Expectation {
  /** The value of `seen` after the expected events. */
  readonly total: number;
  readonly resolve: (arrival: Arrival) => void;
  firstAt: number | undefined;
}

/** When expected events arrived; milliseconds of `performance.now()`. */
export interface Arrival {
  readonly firstAt: number;
  readonly lastAt: number;
}

/** A webhook endpoint on the loopback that counts events and answers 200 at once. */
export class WebhookReceiver {
  private expectation: Expectation | undefined;
  private counted = 0;

  private constructor(private readonly server: Server) {
    server.on('request', (request, response) => {
      void this.receive(request).finally(() => response.end());
    });
  }

  static async start(): Promise<WebhookReceiver> {
    const server = createServer({ keepAliveTimeout: 120_000 });
    const receiver = new WebhookReceiver(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/events`;
  }

  /** Events received so far. */
  get seen(): number {
    return this.counted;
  }

  /** Resolves after `count` further events. @throws Error when they do not arrive within `deadlineSeconds`. */
  expect(count: number, deadlineSeconds: number): Promise<Arrival> {
    return this.reach(this.counted + count, deadlineSeconds);
  }

  /**
   * Resolves after `total` events since the start. @throws Error when they have not arrived within `deadlineSeconds`.
   */
  async reach(total: number, deadlineSeconds: number): Promise<Arrival> {
    const now = performance.now();
    if (this.counted >= total) return { firstAt: now, lastAt: now };
    let deadline: NodeJS.Timeout | undefined;
    try {
      return await new Promise((resolve, reject) => {
        this.expectation = { total, resolve, firstAt: undefined };
        deadline = setTimeout(() => {
          reject(new Error(`${total - this.counted} events did not arrive within ${deadlineSeconds} s`));
        }, deadlineSeconds * 1000);
      });
    } finally {
      clearTimeout(deadline);
    }
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async receive(request: IncomingMessage): Promise<void> {
    const body = await buffer(request);
    const lastAt = performance.now();
    for (let at = body.indexOf(EVENT_MARK); at !== -1; at = body.indexOf(EVENT_MARK, at + 1)) this.counted += 1;
    const { expectation } = this;
    if (expectation === undefined) return;
    expectation.firstAt ??= lastAt;
    if (this.counted >= expectation.total) expectation.resolve({ firstAt: expectation.firstAt, lastAt });
  }
}
