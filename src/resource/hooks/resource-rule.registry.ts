import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { HandlerRegistry } from '../../platform/discovery/handler-registry';
import { ForResourceType, type ResourceRule } from './resource-rule';

@Injectable()
export class ResourceRules extends HandlerRegistry<string, ResourceRule<unknown>> {
  constructor(discovery: DiscoveryService) {
    super(discovery, ForResourceType, (type) => type);
  }

  of(type: string): ResourceRule<unknown> | undefined {
    return this.find(type)?.handler;
  }
}
