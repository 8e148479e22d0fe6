import { DiscoveryService } from '@nestjs/core';
import { type MetricFamily } from './metric-family';

/** The paths of metrics, by the cost of reading them. */
export const METRIC_PATHS = ['/metrics', '/metrics/minutes', '/metrics/hours'] as const;
export type MetricPath = (typeof METRIC_PATHS)[number];

/** Reads metrics for each scrape. */
export interface MetricSource {
  /** Must be bounded in time and size, and return the same families at each call. An error affects only this source. */
  read(): Promise<readonly MetricFamily[]> | readonly MetricFamily[];
}

/** Name and path of a metric source. */
export interface MetricSourceDefinition {
  /** The label `source` of `svc_metrics_source_up`. */
  readonly source: string;
  readonly path: MetricPath;
  /** `cluster`: it reads the database, so only one process of a start reads it. Default: `process`. */
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
