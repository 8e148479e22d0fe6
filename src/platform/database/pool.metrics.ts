import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { type MetricFamily, single } from '../metrics/metric-family';
import { MetricsFrom, type MetricSource } from '../metrics/metric-source';
import { poolOf } from './connection-slots';

/** The connections of this process; asks the database nothing. */
@Injectable()
@MetricsFrom({ source: 'pool', path: '/metrics' })
export class PoolMetrics implements MetricSource {
  constructor(private readonly dataSource: DataSource) {}

  read(): readonly MetricFamily[] {
    const pool = poolOf(this.dataSource);
    return [
      single('gauge', 'svc_database_pool_size', 'Most connections of the pool.', pool.options.max),
      single('gauge', 'svc_database_pool_in_use', 'Connections that work.', pool.totalCount - pool.idleCount),
      single('gauge', 'svc_database_pool_waiting', 'Callers that wait for a connection.', pool.waitingCount),
    ];
  }
}
