import { type MetricFamily } from '../metrics/metric-family';
import { type MetricPath, type MetricScope } from '../metrics/metric-source';

type Families = readonly MetricFamily[];

/** A message between a worker and its parent process. */
export type Message =
  | { readonly kind: 'listening'; readonly url: string }
  | { readonly kind: 'stop' }
  /** The worker must end after its clients have moved to other processes. */
  | { readonly kind: 'retire' }
  /** The parent process requests metrics of the worker, or the worker those of all processes. */
  | { readonly kind: 'request'; readonly id: number; readonly path: MetricPath; readonly of: MetricScope }
  | { readonly kind: 'response'; readonly id: number; readonly families: Families };

/** Requests metrics from the process at the other end of a channel of `node:cluster`, and responds to its requests. */
export class MetricsChannel {
  private readonly waiting = new Map<number, (families: Families | undefined) => void>();
  private count = 0;

  /**
   * @param send sends a message to the other process
   * @param read reads the metrics that the other process requests
   * @param longestMilliseconds how long to wait for a response
   */
  constructor(
    private readonly send: (message: Message) => void,
    private readonly read: (path: MetricPath, of: MetricScope) => Promise<Families>,
    private readonly longestMilliseconds: number,
  ) {}

  /** Returns undefined if the other process does not respond in time, or ends. */
  async request(path: MetricPath, of: MetricScope): Promise<Families | undefined> {
    const id = this.count++;
    let timer: NodeJS.Timeout | undefined;
    const families = await new Promise<Families | undefined>((resolve) => {
      this.waiting.set(id, resolve);
      timer = setTimeout(resolve, this.longestMilliseconds, undefined);
      this.send({ kind: 'request', id, path, of });
    });
    clearTimeout(timer);
    this.waiting.delete(id);
    return families;
  }

  /** Handles a message of the other process, unless it is an order or an address. */
  async receive(message: Message): Promise<void> {
    if (message.kind === 'response') this.waiting.get(message.id)?.(message.families);
    else if (message.kind === 'request')
      this.send({ kind: 'response', id: message.id, families: await this.read(message.path, message.of) });
  }

  /** Ends all waits for responses, since the other process has ended. */
  close(): void {
    for (const resolve of this.waiting.values()) resolve(undefined);
  }
}
