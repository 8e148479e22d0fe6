import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { ModelModule } from '../model/model.module';
import { SearchModule } from '../search/search.module';
import { SearchIndexModule } from '../search-index/search-index.module';
import { StoreModule } from '../store/store.module';
import { CompartmentRule } from './compartment/compartment.rule';
import { Compartments } from './compartment/compartments';
import { DefinitionListener } from './definition.listener';
import { EntryAccessModule } from './access/entry-access.module';
import { NextVersions } from './writes/next-versions';
import { ResourceChangeListeners } from './hooks/resource-change.registry';
import { ResourceHistory } from './resource-history';
import { ResourceRules } from './hooks/resource-rule.registry';
import { ResourceWriter } from './resource-writer';
import { GrantedReader } from './rows/granted-reader';
import { RowCheck } from './rows/row-check';
import { RowLimits } from './rows/row-limits';
import { SearchParameterListener } from './search-parameter/search-parameter.listener';
import { SearchParameterRule } from './search-parameter/search-parameter.rule';
import { SearchParameterSetup } from './search-parameter/search-parameter-setup';
import { ReferenceExistence } from './validation/reference-existence';
import { WriteValidation } from './validation/write-validation';
import { ProfileValidation } from './validation/profile-validation';
import { StoredDefinitions } from './validation/stored-definitions';
import { WriteExtensions } from './writes/write-extensions';
import { WriteSet } from './writes/write-set';

/**
 * Reads and writes resources for other modules, with the packages below this one. The routes of resources are in
 * ResourceApiModule.
 * @example
 * &#64;Module({ imports: [ResourceModule] })
 * export class BedsModule {}
 */
@Module({
  imports: [DiscoveryModule, EntryAccessModule, ModelModule, SearchIndexModule, StoreModule, SearchModule],
  providers: [
    ResourceRules,
    ResourceChangeListeners,
    StoredDefinitions,
    ProfileValidation,
    ReferenceExistence,
    WriteValidation,
    WriteExtensions,
    ResourceHistory,
    NextVersions,
    WriteSet,
    ResourceWriter,
    SearchParameterRule,
    SearchParameterListener,
    SearchParameterSetup,
    Compartments,
    DefinitionListener,
    CompartmentRule,
    RowLimits,
    RowCheck,
    GrantedReader,
  ],
  exports: [
    ResourceRules,
    ResourceHistory,
    WriteSet,
    ResourceWriter,
    Compartments,
    RowLimits,
    RowCheck,
    GrantedReader,
    WriteExtensions,
    EntryAccessModule,
    ModelModule,
    SearchIndexModule,
    StoreModule,
    SearchModule,
  ],
})
export class ResourceModule {}
