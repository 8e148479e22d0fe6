import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { ResourceModule } from '../resource/resource.module';
import { AccessDecision } from './decision/access-decision';
import { AccessPolicies } from './policy/access-policies';
import { AccessPolicyRule } from './policy/access-policy.rule';
import { PolicyRows } from './criteria/policy-rows';
import { AllowEngine } from './engines/allow.engine';
import { MatchoRpcEngine } from './engines/matcho-rpc.engine';
import { MatchoEngine } from './engines/matcho.engine';
import { JsonSchemaEngine } from './engines/json-schema.engine';
import { ComplexEngine } from './engines/complex.engine';
import { AllowRpcEngine } from './engines/allow-rpc.engine';
import { PolicyEngines } from './policy/policy-engine.registry';
import { PolicyEntryAccess } from './policy-entry-access';
import { DecisionController } from './denials/decision.controller';
import { DenialLog } from './denials/denial-log';
import { Denials } from './denials/denials';
import { AccessRequests } from './request/access-requests';
import { CallerParts } from './request/caller-parts';
import { KnownReaders } from './request/known-readers';
import { RightsListener } from './roles/rights.listener';
import { Roles } from './roles/roles';
import { DescribedRequests } from './testing/described-request';
import { NamedResources } from './testing/named-resources';
import { PolicyTest } from './testing/policy-test';
import { RequestTest } from './testing/request-test';
import { AccessTestController } from './testing/access-test.controller';

@Module({
  imports: [DiscoveryModule, ResourceModule],
  controllers: [DecisionController, AccessTestController],
  providers: [
    AccessDecision,
    AccessPolicies,
    AccessPolicyRule,
    AccessRequests,
    AllowEngine,
    AllowRpcEngine,
    CallerParts,
    ComplexEngine,
    DenialLog,
    Denials,
    DescribedRequests,
    JsonSchemaEngine,
    KnownReaders,
    MatchoEngine,
    MatchoRpcEngine,
    NamedResources,
    PolicyEngines,
    PolicyEntryAccess,
    PolicyRows,
    PolicyTest,
    RequestTest,
    RightsListener,
    Roles,
  ],
  exports: [Roles, AccessDecision, AccessRequests, Denials],
})
export class AccessModule {}
