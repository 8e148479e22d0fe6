import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { ResourceModule } from '../resource/resource.module';
import { AccessDecision } from './access-decision';
import { AccessPolicies } from './access-policies';
import { AccessPolicyListener } from './access-policy.listener';
import { AccessPolicyResourceType } from './access-policy.resource-type';
import { AccessPolicyRule } from './access-policy.rule';
import { AllowEngine } from './engines/allow.engine';
import { PolicyEntryAccess } from './entry-access';
import { PolicyEngines } from './policy-engine.registry';

@Module({
  imports: [DiscoveryModule, ResourceModule],
  providers: [
    AccessDecision,
    AccessPolicies,
    AccessPolicyListener,
    AccessPolicyResourceType,
    AccessPolicyRule,
    AllowEngine,
    PolicyEngines,
    PolicyEntryAccess,
  ],
  exports: [AccessDecision],
})
export class AccessModule {}
