import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { softwareVersion } from '../software-version';
import { family, type MetricFamily, single } from './metric-family';
import { MetricsFrom, type MetricSource } from './metric-source';

const RESOLUTION_MILLISECONDS = 20;
const QUANTILES = [0.5, 0.99, 1];

/** Of this process alone; names of the first four as Prometheus' own client libraries have them. */
@Injectable()
@MetricsFrom({ source: 'process', path: '/metrics' })
export class ProcessMetrics implements MetricSource, OnApplicationShutdown {
  private delay: IntervalHistogram | undefined;

  onApplicationShutdown(): void {
    this.delay?.disable();
  }

  read(): readonly MetricFamily[] {
    const { user, system } = process.cpuUsage();
    const heap = getHeapStatistics();
    const startedAt = Date.now() / 1000 - process.uptime();
    const build = { labels: { version: softwareVersion() }, value: 1 };
    return [
      single('gauge', 'svc_processes', 'Processes that answered this scrape.', 1),
      single('gauge', 'process_start_time_seconds', 'When the process started.', startedAt, 'min'),
      single('counter', 'process_cpu_seconds_total', 'Processor time, all threads.', (user + system) / 1e6),
      single('gauge', 'process_resident_memory_bytes', 'Resident memory.', process.memoryUsage.rss()),
      single('gauge', 'nodejs_heap_size_used_bytes', 'JavaScript heap in use.', heap.used_heap_size),
      single('gauge', 'svc_heap_limit_bytes', 'Where the JavaScript heap ends.', heap.heap_size_limit),
      this.loopDelay(),
      family('gauge', 'svc_build_info', 'Always 1; the label is the release.', [build], 'max'),
    ];
  }

  /** Measured from the first scrape on: a server without scrapes has no timer. */
  private loopDelay(): MetricFamily {
    if (this.delay === undefined) {
      this.delay = monitorEventLoopDelay({ resolution: RESOLUTION_MILLISECONDS });
      this.delay.enable();
    }
    const { delay } = this;
    const samples = QUANTILES.map((quantile) => ({
      labels: { quantile: String(quantile) },
      value: delay.count === 0 ? 0 : secondsLate(delay.percentile(quantile * 100)),
    }));
    delay.reset();
    const help = 'How late the event loop was since the last scrape; quantile 1 is the latest.';
    return family('gauge', 'svc_event_loop_delay_seconds', help, samples, 'max');
  }
}

/** The histogram holds whole intervals, in nanoseconds. */
const secondsLate = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e9 - RESOLUTION_MILLISECONDS / 1000);
