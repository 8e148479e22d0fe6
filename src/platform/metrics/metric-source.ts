import { DiscoveryService } from '@nestjs/core';
import { type MetricFamily } from './metric-family';

/** Where metrics are read, by how much they cost. */
export const METRIC_PATHS = ['/metrics', '/metrics/minutes', '/metrics/hours'] as const;
export type MetricPath = (typeof METRIC_PATHS)[number];

/** Reads metrics for each scrape. */
export interface MetricSource {
  /** Bounded in time and number, the same families at each call. An error costs its own families alone. */
  read(): Promise<readonly MetricFamily[]> | readonly MetricFamily[];
}

export interface MetricSourceDefinition {
  /** The label `source` of `svc_metrics_source_up`. */
  readonly source: string;
  readonly path: MetricPath;
  /** `cluster`: it tells what stands in the database, so one process of a start reads it for all. Default: `process`. */
  readonly of?: 'cluster' | 'process';
}

export type MetricScope = NonNullable<MetricSourceDefinition['of']>;

/** Registers a {@link MetricSource}. */
export const MetricsFrom = DiscoveryService.createDecorator<MetricSourceDefinition>();
