import { type DiscoveryService } from '@nestjs/core';
import { describe, expect, it } from '@jest/globals';
import { ServiceError } from '../../platform/errors/service-error';
import { type OperationNames } from '../../platform/http/operation-names';
import { readJson } from '../../platform/json/read-json';
import { type ResourceTypes } from '../../model/resource-types';
import { ResourceDraft } from '../../model/resource-draft';
import { AccessPolicyRule } from './access-policy.rule';
import { type PolicyRows } from '../criteria/policy-rows';
import { type PolicyEngine } from './policy-engine';
import { PolicyEngines } from './policy-engine.registry';

/** An engine of another team. It reads the member `hours` of a policy. */
const officeHours: PolicyEngine = {
  members: ['hours'],
  compile: ({ hours }) => {
    if (typeof hours !== 'string') throw new ServiceError('unprocessable', 'AccessPolicy.hours is missing.');
    return () => ({ path: 'hours', reason: 'the office is closed' });
  },
};

/** A PolicyRows that accepts all criteria, since this spec does not test searches. */
const noRows: Pick<PolicyRows, 'assertSearchable'> = { assertSearchable: () => Promise.resolve() };

const operations: Pick<OperationNames, 'all'> = { all: () => new Set(['FhirRead', 'FhirSearch']) };

const types: Pick<ResourceTypes, 'names'> = { names: () => ['Patient', 'Observation'] };

function rule(): AccessPolicyRule {
  const discovery: Pick<DiscoveryService, 'getProviders' | 'getMetadataByDecorator'> = {
    getProviders: () =>
      [{ instance: officeHours, isDependencyTreeStatic: () => true }] as ReturnType<DiscoveryService['getProviders']>,
    getMetadataByDecorator: () => 'office-hours' as never,
  };
  const engines = new PolicyEngines(discovery as DiscoveryService);
  engines.onModuleInit();
  return new AccessPolicyRule(engines, noRows as PolicyRows, operations as OperationNames, types as ResourceTypes);
}

const refusalOf = async (policy: object): Promise<string | undefined> => {
  try {
    await rule().check(ResourceDraft.of(readJson(JSON.stringify(policy)), 'AccessPolicy'));
    return undefined;
  } catch (error) {
    return error instanceof ServiceError ? error.message : 'another error';
  }
};

describe(AccessPolicyRule, () => {
  it('accepts the members that an engine reads', async () => {
    expect(await refusalOf({ engine: 'office-hours', hours: '8-17' })).toBeUndefined();
  });

  it('leaves the validation of these members to the engine', async () => {
    expect(await refusalOf({ engine: 'office-hours' })).toBe('AccessPolicy.hours is missing.');
  });

  it.each([
    [{ engine: 'office-hours', hours: '8-17', days: '1-5' }, 'AccessPolicy.days is not supported.'],
    [{ engine: 'allow' }, 'AccessPolicy.engine must be one of office-hours.'],
  ])('refuses %j', async (policy, message) => {
    expect(await refusalOf(policy)).toBe(message);
  });
});
