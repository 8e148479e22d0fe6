import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { softwareVersion } from '../software-version';
import { family, type MetricFamily, single } from './metric-family';
import { MetricsFrom, type MetricSource } from './metric-source';

const RESOLUTION_MILLISECONDS = 20;
const QUANTILES = [0.5, 0.99, 1];
/**
 * Length of a period in which delays of the event loop are measured. The delays of a period are returned to all readers
 * until the next period ends. So no reader loses them because another one has read them.
 */
const DELAYS_MILLISECONDS = 30_000;

/**
 * The start of the process, in seconds since 1970. It is computed only once. The two clocks behind it drift by some
 * milliseconds, so a value computed again would look like another start.
 */
const STARTED_AT = performance.timeOrigin / 1000;

/** Metrics of this process. The first four have the names that Prometheus's own client libraries use. */
@Injectable()
@MetricsFrom({ source: 'process', path: '/metrics' })
export class ProcessMetrics implements MetricSource, OnApplicationShutdown {
  private delay: IntervalHistogram | undefined;
  /** Delays of the event loop in the latest complete period, in seconds, one for each quantile. */
  private earlier: readonly number[] = [];
  private since = performance.now();

  onApplicationShutdown(): void {
    this.delay?.disable();
  }

  read(): readonly MetricFamily[] {
    const { user, system } = process.cpuUsage();
    const heap = getHeapStatistics();
    const build = { labels: { version: softwareVersion() }, value: 1 };
    return [
      single('gauge', 'svc_processes', 'Processes that answered this scrape.', 1),
      single('gauge', 'process_start_time_seconds', 'When the process started.', STARTED_AT, 'min'),
      single('counter', 'process_cpu_seconds_total', 'Processor time, all threads.', (user + system) / 1e6),
      single('gauge', 'process_resident_memory_bytes', 'Resident memory.', process.memoryUsage.rss()),
      // Each process has a separate heap: in a sum, idle processes would hide the full heap of another one.
      single('gauge', 'nodejs_heap_size_used_bytes', 'JavaScript heap in use.', heap.used_heap_size, 'max'),
      single('gauge', 'svc_heap_limit_bytes', 'Where the JavaScript heap ends.', heap.heap_size_limit, 'min'),
      this.loopDelay(),
      family('gauge', 'svc_build_info', 'Always 1; the label is the release.', [build], 'max'),
    ];
  }

  /**
   * Returns the delays of the event loop. They are measured from the first read on, so that a server without readers
   * has no timer. There may be several readers, so the delays of a period stay available during the next period.
   */
  private loopDelay(): MetricFamily {
    if (this.delay === undefined) {
      this.delay = monitorEventLoopDelay({ resolution: RESOLUTION_MILLISECONDS });
      this.delay.enable();
    }
    const { delay, earlier } = this;
    const current = QUANTILES.map((quantile) =>
      delay.count === 0 ? 0 : secondsLate(delay.percentile(quantile * 100)),
    );
    const samples = QUANTILES.map((quantile, index) => ({
      labels: { quantile: String(quantile) },
      value: Math.max(current[index] ?? 0, earlier[index] ?? 0),
    }));
    if (performance.now() - this.since >= DELAYS_MILLISECONDS) {
      this.earlier = current;
      this.since = performance.now();
      delay.reset();
    }
    const help = 'How late the event loop was in the latest 30 s at least; quantile 1 is the latest.';
    return family('gauge', 'svc_event_loop_delay_seconds', help, samples, 'max');
  }
}

/** Returns by how many seconds an interval was late. The histogram contains the whole intervals, in nanoseconds. */
const secondsLate = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e9 - RESOLUTION_MILLISECONDS / 1000);
