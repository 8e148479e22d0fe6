import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { ResourceModule } from '../resource/resource.module';
import { AccessDecision } from './access-decision';
import { AccessPolicies } from './access-policies';
import { AccessPolicyListener } from './access-policy.listener';
import { AccessPolicyResourceType } from './access-policy.resource-type';
import { AccessPolicyRule } from './access-policy.rule';
import { PolicyRows } from './criteria/policy-rows';
import { AllowEngine } from './engines/allow.engine';
import { PolicyEngines } from './policy-engine.registry';
import { PolicyEntryAccess } from './policy-entry-access';
import { AccessRequests } from './request/access-requests';
import { CallerParts } from './request/caller-parts';

@Module({
  imports: [DiscoveryModule, ResourceModule],
  providers: [
    AccessDecision,
    AccessPolicies,
    AccessPolicyListener,
    AccessPolicyResourceType,
    AccessPolicyRule,
    AccessRequests,
    AllowEngine,
    CallerParts,
    PolicyEngines,
    PolicyEntryAccess,
    PolicyRows,
  ],
  exports: [AccessDecision, AccessRequests],
})
export class AccessModule {}
