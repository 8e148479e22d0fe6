import cluster, { type Worker } from 'node:cluster';
import { WORKER } from '../config/processes';
import { type MetricFamily } from '../metrics/metric-family';
import { METRIC_PATHS, type MetricPath } from '../metrics/metric-source';
import { type Message, MetricsChannel } from './channel';
import { lasting } from './summed';

/** How long to wait for the metrics of a process. It is longer than any metric source takes. */
const SCRAPE_MILLISECONDS = 6_000;

/** A worker, as its parent process sees it. */
export class WorkerProcess {
  /** Resolves with the address; rejects if the process ends before it listens. */
  readonly listening: Promise<string>;
  /** Resolves with a text such as `SIGKILL` or `exit code 1`. */
  readonly ended: Promise<string>;
  listensSince: number | undefined;
  /** Whether the process was ordered to end, so that it needs no successor. */
  isDismissed = false;
  /** The latest metrics, by path. */
  readonly reported = new Map<MetricPath, readonly MetricFamily[]>();
  private readonly worker: Worker;
  private readonly channel: MetricsChannel;

  /** @param readAll reads the metrics of all processes; this process may request them */
  constructor(role: 'first' | 'next', readAll: (path: MetricPath) => Promise<readonly MetricFamily[]>) {
    this.worker = cluster.fork({ [WORKER]: role });
    // Ignores errors of messages, since the process may end before a message is sent.
    this.worker.on('error', () => undefined);
    this.channel = new MetricsChannel((message) => this.send(message), readAll, SCRAPE_MILLISECONDS);
    this.ended = new Promise((resolve) => {
      this.worker.once('exit', (code: number | null, signal: string | null) => {
        resolve(signal ?? `exit code ${code ?? 0}`);
        // Pending scrapes end here, not by `ended.then`: the promise `ended` would keep the result of each scrape as
        // long as the process runs.
        this.channel.close();
      });
    });
    this.listening = new Promise((resolve, reject) => {
      this.worker.on('message', (message: Message) => {
        void this.channel.receive(message);
        if (message.kind !== 'listening') return;
        this.listensSince = performance.now();
        resolve(message.url);
      });
      void this.ended.then((end) => {
        reject(new Error(end));
      });
    });
  }

  get pid(): number {
    return this.worker.process.pid ?? 0;
  }

  /** Orders the process to end. Resolves when it has ended. */
  dismiss(kind: 'stop' | 'retire'): Promise<string> {
    this.isDismissed = true;
    // A process that starts reads no orders, so it gets a signal.
    if (this.listensSince === undefined) this.worker.process.kill('SIGTERM');
    else {
      // Keeps the counts since the last scrape; after a stop nothing reads them.
      if (kind === 'retire') for (const path of METRIC_PATHS) void this.read(path);
      this.send({ kind });
    }
    return this.ended;
  }

  /** Reads the metrics of the process. If the process does not answer, returns its last known counters. */
  async read(path: MetricPath): Promise<readonly MetricFamily[]> {
    const families = await this.channel.request(path, 'process');
    if (families === undefined) return lasting(this.reported.get(path) ?? []);
    this.reported.set(path, families);
    return families;
  }

  /**
   * Reads the metrics of the database by this process. They are not cached, since they do not belong to the process.
   */
  async readCluster(path: MetricPath): Promise<readonly MetricFamily[]> {
    return (await this.channel.request(path, 'cluster')) ?? [];
  }

  private send(message: Message): boolean {
    return this.worker.isConnected() && this.worker.send(message);
  }
}
