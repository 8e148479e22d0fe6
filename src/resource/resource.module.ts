import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { ResourceChangeListeners } from './resource-change.registry';
import { ResourceReader } from './resource-reader';
import { ResourceRules } from './resource-rule.registry';
import { ResourceTypes } from './resource-types';
import { ResourceWriter } from './resource-writer';
import { ClauseResolver } from './search/clause-resolver';
import { IncludedResources } from './search/included-resources';
import { KnownUnits } from './search/known-units';
import { IncompleteIndexes } from './search/live/incomplete-indexes';
import { IndexJob } from './search/live/index-job';
import { IndexWorker } from './search/live/index-worker';
import { LiveSearchParameters } from './search/live/live-search-parameters.repository';
import { SearchParameterListener } from './search/live/search-parameter.listener';
import { SearchParameterRule } from './search/live/search-parameter.rule';
import { ResourceSearch } from './search/resource-search';
import { RowFrequencies } from './search/row-frequencies';
import { SearchIndex } from './search/search-index';
import { ValueSetCodes } from './search/value-set-codes';
import { ResourceKeys } from './store/resource-keys';
import { ResourceStore } from './store/resource-store';
import { WriteExtensions } from './write-extensions';

/** The resource store for other modules; its routes are in ResourceApiModule. */
@Module({
  imports: [DiscoveryModule],
  providers: [
    ResourceTypes,
    ResourceRules,
    ResourceChangeListeners,
    WriteExtensions,
    ResourceKeys,
    ResourceStore,
    ResourceReader,
    ResourceWriter,
    SearchIndex,
    LiveSearchParameters,
    IndexJob,
    IndexWorker,
    IncompleteIndexes,
    SearchParameterRule,
    SearchParameterListener,
    ClauseResolver,
    IncludedResources,
    KnownUnits,
    RowFrequencies,
    ValueSetCodes,
    ResourceSearch,
  ],
  exports: [
    ResourceTypes,
    ResourceReader,
    ResourceWriter,
    SearchIndex,
    LiveSearchParameters,
    IncompleteIndexes,
    ResourceSearch,
  ],
})
export class ResourceModule {}
