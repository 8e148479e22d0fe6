import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { HandlerRegistry } from '../discovery/handler-registry';
import { MetricsFrom, type MetricSource, type MetricSourceDefinition } from './metric-source';

@Injectable()
export class MetricSources extends HandlerRegistry<MetricSourceDefinition, MetricSource> {
  constructor(discovery: DiscoveryService) {
    super(discovery, MetricsFrom, ({ source }) => source);
  }
}
