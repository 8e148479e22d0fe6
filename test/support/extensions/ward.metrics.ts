import { Injectable } from '@nestjs/common';
import { UnitOfWork } from '../../../src/platform/database/unit-of-work';
import { type MetricFamily } from '../../../src/platform/metrics/metric-family';
import { MetricsFrom, type MetricSource } from '../../../src/platform/metrics/metric-source';
import {
  OnResourceChange,
  type ResourceChange,
  type ResourceChangeListener,
} from '../../../src/resource/hooks/resource-change';

@Injectable()
@OnResourceChange({ types: ['Ward'] })
@MetricsFrom({ source: 'wards', path: '/metrics' })
export class WardMetrics implements ResourceChangeListener, MetricSource {
  private readonly changes = { create: 0, update: 0, delete: 0 };

  constructor(private readonly unitOfWork: UnitOfWork) {}

  onChange({ interaction }: ResourceChange): Promise<void> {
    this.unitOfWork.afterCommit(() => (this.changes[interaction] += 1));
    return Promise.resolve();
  }

  read(): readonly MetricFamily[] {
    const samples = Object.entries(this.changes).map(([interaction, value]) => ({ labels: { interaction }, value }));
    return [{ name: 'acme_ward_changes_total', type: 'counter', help: 'Changes of wards by this process.', samples }];
  }
}
