import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { HandlerRegistry } from '../../platform/discovery/handler-registry';
import { EngineOf, type PolicyEngine } from './policy-engine';
import { policyFault } from './policy-fault';

/** Engines that compatible servers have and this server does not, with the reason. */
const REFUSED = new Map([
  ['sql', 'its own SQL would bypass every other rule; use matcho, or criteria for rows'],
  ['signed-rpc', 'calls are granted to callers with credentials, not to signed texts; use matcho-rpc'],
  ['smart-on-fhir', 'SMART scopes are not served here; use matcho with criteria'],
  ['clj', 'policies are data here, not programs; use matcho or json-schema'],
]);

@Injectable()
export class PolicyEngines extends HandlerRegistry<string, PolicyEngine> {
  constructor(discovery: DiscoveryService) {
    super(discovery, EngineOf, (name) => name, ['compile']);
  }

  /** @throws ServiceError 'unprocessable' for an engine that this server does not have */
  named(engine: unknown): PolicyEngine {
    const found = typeof engine === 'string' ? this.find(engine)?.handler : undefined;
    if (found !== undefined) return found;
    const why = typeof engine === 'string' ? REFUSED.get(engine) : undefined;
    const names = this.all().map(({ meta }) => meta);
    throw policyFault(
      'engine',
      why === undefined ? `must be one of ${names.join(', ')}` : `cannot be "${String(engine)}": ${why}`,
    );
  }
}
