import { setTimeout as delay } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { type MetricFamily } from '../metrics/metric-family';
import { METRIC_PATHS, type MetricPath } from '../metrics/metric-source';
import { type MetricsReader } from '../metrics/metrics-server';
import { lasting, summed } from './summed';
import { WorkerProcess } from './worker-process';

/**
 * Pause before a process that ended by itself is replaced. The pause doubles each time, until a process has lived for
 * {@link CALM_MILLISECONDS}.
 */
const FIRST_PAUSE_MILLISECONDS = 100;
const LONGEST_PAUSE_MILLISECONDS = 30_000;
const CALM_MILLISECONDS = 60_000;
/** How a process ends that was ordered to. */
const CLEAN_END = 'exit code 0';
/** The server ends if this many processes in a row ended before they listened, and no other process serves. */
const VAIN_STARTS = 5;

/** The processes of one server, as their parent sees them. Each is a complete server, and all have the same port. */
export class Workers implements MetricsReader {
  private readonly logger = new Logger('Processes');
  private readonly all = new Set<WorkerProcess>();
  /** The last metrics of ended processes, by path. */
  private readonly gone = new Map<MetricPath, readonly MetricFamily[]>();
  private pauseMilliseconds = FIRST_PAUSE_MILLISECONDS;
  private vainStarts = 0;
  private isStopping = false;
  private replacing: Promise<unknown> = Promise.resolve();
  private isReplacementPending = false;

  /** @param onLost called if no process serves and none can be started */
  constructor(
    private readonly count: number,
    private readonly onLost: (reason: string) => void,
  ) {}

  /**
   * Starts the first process, which migrates the database and reports errors, and then all others.
   * @returns their common address
   * @throws Error if a process ends instead of listening; that process has printed the reason
   */
  start(): Promise<string> {
    const started = this.startAll();
    this.replacing = Promise.allSettled([started]);
    return started;
  }

  /**
   * Replaces the processes one by one. Each new process listens before an old process ends. If a new process cannot
   * start, the remaining old processes stay.
   */
  replaceAll(): Promise<unknown> {
    if (!this.isReplacementPending) {
      this.isReplacementPending = true;
      this.replacing = this.replacing.then(() => this.replaceEach());
    }
    return this.replacing;
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    await Promise.all([...this.all].map((worker) => worker.dismiss('stop')));
  }

  /** Reads the metrics of all processes, and those of the database by one of them. */
  async read(path: MetricPath): Promise<readonly MetricFamily[]> {
    const [first] = this.serving;
    return summed(await Promise.all([this.readProcesses(path), first?.readCluster(path) ?? []]));
  }

  /** The sums over all current and ended processes. */
  private async readProcesses(path: MetricPath): Promise<readonly MetricFamily[]> {
    // Read before the wait: a process that ends during the wait is in `reported` already.
    const gone = this.gone.get(path) ?? [];
    const reported = await Promise.all(this.serving.map((worker) => worker.read(path)));
    return summed([...reported, gone]);
  }

  /** If another process than the first one ends before it listens, it is started again, while the first one serves. */
  private async startAll(): Promise<string> {
    const url = await this.begin('first').listening;
    await Promise.all(
      Array.from({ length: this.count - 1 }, () =>
        this.begin('next').listening.catch((error: unknown) => {
          this.startAgain(error);
        }),
      ),
    );
    return url;
  }

  private get serving(): readonly WorkerProcess[] {
    return [...this.all].filter(({ listensSince }) => listensSince !== undefined);
  }

  private async replaceEach(): Promise<void> {
    this.isReplacementPending = false;
    const old = [...this.all].filter(({ isDismissed }) => !isDismissed);
    for (const worker of old) {
      if (this.isStopping) return;
      if (!this.all.has(worker)) continue;
      // Marked before the successor starts: if this process ends meanwhile, it must not get a second successor.
      worker.isDismissed = true;
      const successor = this.begin('next');
      try {
        await successor.listening;
      } catch (error) {
        worker.isDismissed = false;
        if (!this.all.has(worker)) void this.restore();
        this.logVainStart(error, 'the old ones go on');
        return;
      }
      const end = await worker.dismiss('retire');
      this.logger.log(`Process ${worker.pid} was replaced by ${successor.pid}`);
      if (end !== CLEAN_END) this.logger.error(`Process ${worker.pid} ended before its last request (${end})`);
    }
  }

  private begin(role: 'first' | 'next'): WorkerProcess {
    const worker = new WorkerProcess(role, (path) => this.readProcesses(path));
    this.all.add(worker);
    void worker.ended.then((end) => {
      this.all.delete(worker);
      for (const path of METRIC_PATHS) {
        this.gone.set(path, summed([this.gone.get(path) ?? [], lasting(worker.reported.get(path) ?? [])]));
      }
      // For a process that never listened, the promise `listening` rejects, and other code handles that.
      if (worker.listensSince === undefined || worker.isDismissed || this.isStopping) return;
      this.logger.error(`Process ${worker.pid} ended by itself (${end}) and is replaced`);
      if (performance.now() - worker.listensSince > CALM_MILLISECONDS)
        this.pauseMilliseconds = FIRST_PAUSE_MILLISECONDS;
      void this.restore();
    });
    return worker;
  }

  private async restore(): Promise<void> {
    await delay(this.pauseMilliseconds);
    this.pauseMilliseconds = Math.min(2 * this.pauseMilliseconds, LONGEST_PAUSE_MILLISECONDS);
    if (this.isStopping) return;
    const worker = this.begin('next');
    try {
      await worker.listening;
      this.vainStarts = 0;
    } catch (error) {
      // A dismissed process has a successor already: all were replaced while this one started.
      if (!worker.isDismissed) this.startAgain(error);
    }
  }

  /** @param error says how a process ended before it listened */
  private startAgain(error: unknown): void {
    this.logVainStart(error, 'it is started again');
    this.vainStarts++;
    if (this.vainStarts >= VAIN_STARTS && this.serving.length === 0) {
      this.onLost(`No process serves, and ${VAIN_STARTS} in a row ended before they listened.`);
    } else void this.restore();
  }

  private logVainStart(error: unknown, what: string): void {
    if (this.isStopping) return;
    const end = error instanceof Error ? error.message : 'unknown error';
    this.logger.error(`A new process ended before it listened (${end}): ${what}`);
  }
}
