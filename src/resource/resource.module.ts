import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { CompartmentListener } from './compartment/compartment.listener';
import { CompartmentRule } from './compartment/compartment.rule';
import { Compartments } from './compartment/compartments';
import { ConditionMatches } from '../rest/conditional/condition-matches';
import { ConditionalWriter } from '../rest/conditional/conditional-writer';
import { EntryAccessModule } from './access/entry-access.module';
import { MetaStyles } from '../model/meta-styles';
import { NextVersions } from './writes/next-versions';
import { ResourceChangeListeners } from './hooks/resource-change.registry';
import { LateTexts } from '../store/late-texts';
import { ResourceHistory } from './resource-history';
import { ResourceReader } from '../store/resource-reader';
import { ResourceRules } from './hooks/resource-rule.registry';
import { ResourceTypes } from '../model/resource-types';
import { ResourceWriter } from './resource-writer';
import { GrantedReader } from './rows/granted-reader';
import { RowCheck } from './rows/row-check';
import { RowCriteria } from '../search/rows/row-criteria';
import { RowLimits } from './rows/row-limits';
import { ClauseResolver } from '../search/run/clause-resolver';
import { DatabaseHashKey } from '../search-index/database-hash-key';
import { IncludedResources } from '../search/include/included-resources';
import { NamedResources } from '../search/include/named-resources';
import { KnownUnits } from '../store/known-units';
import { ResourceCriteria } from '../search/run/resource-criteria';
import { IncompleteIndexes } from '../search-index/states/incomplete-indexes';
import { IndexMetrics } from '../search-index/states/index.metrics';
import { IndexJob } from '../store/index-job';
import { ParameterStates } from '../search-index/states/parameter-states.repository';
import { SearchParameterListener } from './search-parameter/search-parameter.listener';
import { SearchParameterRule } from './search-parameter/search-parameter.rule';
import { SearchParameterSetup } from './search-parameter/search-parameter-setup';
import { ResourceSearch } from '../search/run/resource-search';
import { RowFrequencies } from '../search/run/row-frequencies';
import { SearchIndex } from '../search-index/search-index';
import { TypesSearch } from '../search/types/types-search';
import { ValueSetCodes } from '../search/run/value-set-codes';
import { ResourceKeys } from '../store/resource-keys';
import { ResourceStore } from '../store/resource-store';
import { ProfileListener } from './validation/profile.listener';
import { ReferenceExistence } from './validation/reference-existence';
import { WriteValidation } from './validation/write-validation';
import { ProfileValidation } from './validation/profile-validation';
import { ResourceValidation } from './validation/resource-validation';
import { StoredDefinitions } from './validation/stored-definitions';
import { WriteExtensions } from './writes/write-extensions';
import { WriteSet } from './writes/write-set';

/** The resource store for other modules; its routes are in ResourceApiModule. */
@Module({
  imports: [DiscoveryModule, EntryAccessModule],
  providers: [
    ResourceTypes,
    ResourceRules,
    ResourceChangeListeners,
    ResourceValidation,
    StoredDefinitions,
    ProfileValidation,
    ProfileListener,
    ReferenceExistence,
    WriteValidation,
    WriteExtensions,
    ResourceKeys,
    ResourceStore,
    ResourceReader,
    LateTexts,
    ResourceHistory,
    MetaStyles,
    NextVersions,
    WriteSet,
    ResourceWriter,
    DatabaseHashKey,
    SearchIndex,
    ParameterStates,
    IndexJob,
    IndexMetrics,
    IncompleteIndexes,
    SearchParameterRule,
    SearchParameterListener,
    SearchParameterSetup,
    ClauseResolver,
    IncludedResources,
    NamedResources,
    KnownUnits,
    RowFrequencies,
    ValueSetCodes,
    ResourceSearch,
    TypesSearch,
    Compartments,
    CompartmentListener,
    CompartmentRule,
    ResourceCriteria,
    RowCriteria,
    RowLimits,
    RowCheck,
    GrantedReader,
    ConditionMatches,
    ConditionalWriter,
  ],
  exports: [
    ResourceTypes,
    ResourceRules,
    ResourceReader,
    ReferenceExistence,
    LateTexts,
    ResourceHistory,
    WriteSet,
    ResourceWriter,
    SearchIndex,
    IncompleteIndexes,
    ParameterStates,
    ResourceSearch,
    TypesSearch,
    Compartments,
    ResourceCriteria,
    RowCriteria,
    RowLimits,
    RowCheck,
    GrantedReader,
    ConditionalWriter,
    ConditionMatches,
    ResourceStore,
    WriteExtensions,
    EntryAccessModule,
  ],
})
export class ResourceModule {}
