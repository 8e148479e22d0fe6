import { Injectable } from '@nestjs/common';
import {
  type MetricFamily,
  MetricsFrom,
  type MetricSource,
  OnResourceChange,
  type ResourceChange,
  type ResourceChangeListener,
  UnitOfWork,
} from 'svc-health-server';

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
