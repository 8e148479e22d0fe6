import { Injectable, Logger } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { HandlerRegistry } from '../discovery/handler-registry';
import { errorName } from '../logging/error-trace';
import { family, type MetricFamily } from './metric-family';
import {
  METRIC_PATHS,
  type MetricPath,
  type MetricScope,
  MetricsFrom,
  type MetricSource,
  type MetricSourceDefinition,
} from './metric-source';

/** The result of reading one source. */
interface Run {
  readonly source: string;
  readonly isUp: boolean;
  readonly families: readonly MetricFamily[];
}

@Injectable()
export class Metrics extends HandlerRegistry<MetricSourceDefinition, MetricSource> {
  private readonly logger = new Logger(Metrics.name);
  /**
   * Reads the metrics of all processes of this server: by default those of this process, the only one. If there are
   * several processes, each replaces this function by one that requests the metrics from the parent process.
   */
  ofStart: (path: MetricPath) => Promise<readonly MetricFamily[]> = (path) => this.read(path, 'process');
  private readonly running = new Map<string, Promise<readonly MetricFamily[]>>();

  constructor(discovery: DiscoveryService) {
    super(discovery, MetricsFrom, ({ source }) => source, ['read'], {
      source: 'string',
      path: { oneOf: METRIC_PATHS },
      'of?': { oneOf: ['cluster', 'process'] },
    });
  }

  /**
   * Reads the metrics of a path. Concurrent calls share one result.
   * @param of the scope of the sources that are read
   */
  read(path: MetricPath, of: MetricScope | 'all' = 'all'): Promise<readonly MetricFamily[]> {
    const key = `${of} ${path}`;
    const running = this.running.get(key) ?? this.make(path, of).finally(() => this.running.delete(key));
    this.running.set(key, running);
    return running;
  }

  private async make(path: MetricPath, of: MetricScope | 'all'): Promise<readonly MetricFamily[]> {
    const wanted = this.all().filter(({ meta }) => meta.path === path && [meta.of ?? 'process', 'all'].includes(of));
    const read = await Promise.all(
      wanted.map(async ({ meta: { source }, handler }) => {
        try {
          return { source, isUp: true, families: await handler.read() };
        } catch (error) {
          this.logger.warn(`Metrics of ${source} could not be read: ${errorName(error)}`);
          return { source, isUp: false, families: [] };
        }
      }),
    );
    const runs = this.withoutRepetitions(read);
    const help = 'Whether these metrics could be read: 1, or 0 where those of the source are missing.';
    const samples = runs.map(({ source, isUp }) => ({ labels: { source }, value: Number(isUp) }));
    return [
      family('gauge', 'svc_metrics_source_up', help, samples, 'min'),
      ...runs.flatMap(({ families }) => families),
    ];
  }

  /** Leaves out a source with the family of another one: Prometheus refuses a whole answer that has a family twice. */
  private withoutRepetitions(runs: readonly Run[]): readonly Run[] {
    const sources = new Map<string, string>();
    return runs.map((run) => {
      const taken = run.families.find(({ name }) => sources.has(name))?.name;
      if (taken !== undefined) {
        const other = sources.get(taken) ?? '';
        this.logger.warn(`Metrics of ${run.source} are left out, since ${other} has ${taken} too. Rename one of both.`);
        return { source: run.source, isUp: false, families: [] };
      }
      for (const { name } of run.families) sources.set(name, run.source);
      return run;
    });
  }
}
