import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { Metrics } from './metrics';
import { MetricsReader, MetricsServer } from './metrics-server';
import { ProcessMetrics } from './process.metrics';

/** Serves the metrics of providers with the decorator `@MetricsFrom`. */
@Module({
  imports: [DiscoveryModule],
  providers: [Metrics, { provide: MetricsReader, useExisting: Metrics }, MetricsServer, ProcessMetrics],
  exports: [Metrics],
})
export class MetricsModule {}
