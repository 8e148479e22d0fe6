import { type DiscoveryService } from '@nestjs/core';
import { describe, expect, it } from '@jest/globals';
import { ServiceError } from '../platform/errors/service-error';
import { readJson } from '../platform/json/read-json';
import { ResourceDraft } from '../resource/resource-draft';
import { AccessPolicyRule } from './access-policy.rule';
import { type PolicyEngine } from './policy-engine';
import { PolicyEngines } from './policy-engine.registry';

/** An engine of another team: it reads `hours`. */
const officeHours: PolicyEngine = {
  members: ['hours'],
  grants: () => false,
  check: ({ hours }) => {
    if (typeof hours !== 'string') throw new ServiceError('unprocessable', 'AccessPolicy.hours is missing.');
  },
};

function rule(): AccessPolicyRule {
  const discovery: Pick<DiscoveryService, 'getProviders' | 'getMetadataByDecorator'> = {
    getProviders: () => [{ instance: officeHours }] as ReturnType<DiscoveryService['getProviders']>,
    getMetadataByDecorator: () => 'office-hours' as never,
  };
  const engines = new PolicyEngines(discovery as DiscoveryService);
  engines.onModuleInit();
  return new AccessPolicyRule(engines);
}

const refusalOf = (policy: object): string | undefined => {
  try {
    rule().check(ResourceDraft.of(readJson(JSON.stringify(policy)), 'AccessPolicy'));
    return undefined;
  } catch (error) {
    return error instanceof ServiceError ? error.message : 'another error';
  }
};

describe(AccessPolicyRule, () => {
  it('takes the members that an engine reads', () => {
    expect(refusalOf({ engine: 'office-hours', hours: '8-17' })).toBeUndefined();
  });

  it('leaves them to the engine', () => {
    expect(refusalOf({ engine: 'office-hours' })).toBe('AccessPolicy.hours is missing.');
  });

  it.each([
    [{ engine: 'office-hours', hours: '8-17', days: '1-5' }, 'AccessPolicy.days is not supported.'],
    [{ engine: 'allow' }, 'AccessPolicy.engine must be one of office-hours.'],
  ])('refuses %j, of which a part would not be read', (policy, message) => {
    expect(refusalOf(policy)).toBe(message);
  });
});
