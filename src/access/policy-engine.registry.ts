import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { HandlerRegistry } from '../platform/discovery/handler-registry';
import { EngineOf, type PolicyEngine } from './policy-engine';

@Injectable()
export class PolicyEngines extends HandlerRegistry<string, PolicyEngine> {
  constructor(discovery: DiscoveryService) {
    super(discovery, EngineOf, (name) => name);
  }

  names(): readonly string[] {
    return this.all().map(({ meta }) => meta);
  }
}
