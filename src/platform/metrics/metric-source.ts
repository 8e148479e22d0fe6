import { DiscoveryService } from '@nestjs/core';
import { type MetricFamily } from './metric-family';

/**
 * The paths of metrics. A metric is at one of them by its cost: the costly ones should be scraped only every few
 * minutes or hours.
 */
export const METRIC_PATHS = ['/metrics', '/metrics/minutes', '/metrics/hours'] as const;
export type MetricPath = (typeof METRIC_PATHS)[number];

/** A source of metrics, which is read for each scrape. */
export interface MetricSource {
  /**
   * Returns the metrics. Its time and the size of its result must be bounded, and it must return the same families at
   * each call. If it throws, only the metrics of this source are missing.
   */
  read(): Promise<readonly MetricFamily[]> | readonly MetricFamily[];
}

export interface MetricSourceDefinition {
  /** The name of the source, which is the label `source` of the metric `svc_metrics_source_up`. */
  readonly source: string;
  readonly path: MetricPath;
  /**
   * The scope of the metrics. `cluster`: the source reads the database, so only one of the server's processes reads it.
   * `process` (the default): each process reads its own.
   */
  readonly of?: 'cluster' | 'process';
}

export type MetricScope = NonNullable<MetricSourceDefinition['of']>;

/**
 * Registers a {@link MetricSource}.
 * @example
 * &#64;Injectable()
 * &#64;MetricsFrom({ source: 'wards', path: '/metrics/minutes', of: 'cluster' })
 * export class WardCount implements MetricSource {
 *   constructor(private readonly reader: ResourceReader) {}
 *
 *   async read(): Promise<MetricFamily[]> {
 *     const samples = [{ value: (await this.reader.list('Ward')).length }];
 *     return [{ name: 'acme_wards', type: 'gauge', help: 'Wards that are stored.', samples }];
 *   }
 * }
 */
export const MetricsFrom = DiscoveryService.createDecorator<MetricSourceDefinition>();
