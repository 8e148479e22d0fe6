import { Injectable } from '@nestjs/common';
import { Statements } from '../../platform/database/statements';
import { type MetricFamily, single } from '../../platform/metrics/metric-family';
import { MetricsFrom, type MetricSource } from '../../platform/metrics/metric-source';
import { METRICS } from './parameter-state-statements';

/** Metrics of the indexes that are being built or removed. Every replica reports the same values. */
@Injectable()
@MetricsFrom({ source: 'search', path: '/metrics', of: 'cluster' })
export class IndexMetrics implements MetricSource {
  constructor(private readonly statements: Statements) {}

  async read(): Promise<readonly MetricFamily[]> {
    const row = await this.statements.runOne<{ parameters: number; resources: number }>(METRICS, []);
    const { parameters = 0, resources = 0 } = row ?? {};
    return [
      single(
        'gauge',
        'svc_search_parameters_unfinished',
        'Search parameters whose index is being built or removed.',
        parameters,
      ),
      single('gauge', 'svc_search_index_resources_left', 'Resources that are yet to be indexed anew.', resources),
    ];
  }
}
