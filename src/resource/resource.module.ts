import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { CompartmentListener } from './compartment/compartment.listener';
import { CompartmentRule } from './compartment/compartment.rule';
import { Compartments } from './compartment/compartments';
import { ConditionMatches } from './conditional/condition-matches';
import { ConditionalWriter } from './conditional/conditional-writer';
import { EntryAccessModule } from './entry-access.module';
import { MetaStyles } from './meta-styles';
import { NextVersions } from './next-versions';
import { ResourceChangeListeners } from './resource-change.registry';
import { LateTexts } from './late-texts';
import { ResourceHistory } from './resource-history';
import { ResourceReader } from './resource-reader';
import { ResourceRules } from './resource-rule.registry';
import { ResourceTypes } from './resource-types';
import { ResourceWriter } from './resource-writer';
import { GrantedReader } from './rows/granted-reader';
import { RowCheck } from './rows/row-check';
import { RowCriteria } from './rows/row-criteria';
import { RowLimits } from './rows/row-limits';
import { ClauseResolver } from './search/clause-resolver';
import { DatabaseHashKey } from './search/database-hash-key';
import { IncludedResources } from './search/include/included-resources';
import { NamedResources } from './search/include/named-resources';
import { KnownUnits } from './search/known-units';
import { ResourceCriteria } from './search/resource-criteria';
import { IncompleteIndexes } from './search/states/incomplete-indexes';
import { IndexMetrics } from './search/states/index.metrics';
import { IndexJob } from './search/states/index-job';
import { ParameterStates } from './search/states/parameter-states.repository';
import { SearchParameterListener } from './search/live/search-parameter.listener';
import { SearchParameterRule } from './search/live/search-parameter.rule';
import { SearchParameterSetup } from './search/live/search-parameter-setup';
import { ResourceSearch } from './search/resource-search';
import { RowFrequencies } from './search/row-frequencies';
import { SearchIndex } from './search/search-index';
import { TypesSearch } from './search/types/types-search';
import { ValueSetCodes } from './search/value-set-codes';
import { ResourceKeys } from './store/resource-keys';
import { ResourceStore } from './store/resource-store';
import { ProfileListener } from './validation/profile.listener';
import { ReferenceExistence } from './validation/reference-existence';
import { WriteValidation } from './validation/write-validation';
import { ProfileValidation } from './validation/profile-validation';
import { ResourceValidation } from './validation/resource-validation';
import { StoredDefinitions } from './validation/stored-definitions';
import { WriteExtensions } from './write-extensions';
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
