import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { ConditionMatches } from './conditional/condition-matches';
import { ConditionalWriter } from './conditional/conditional-writer';
import { EntryAccesses } from './entry-access.registry';
import { ResourceChangeListeners } from './resource-change.registry';
import { ResourceReader } from './resource-reader';
import { ResourceRules } from './resource-rule.registry';
import { ResourceTypes } from './resource-types';
import { ResourceWriter } from './resource-writer';
import { ResourceCriteria } from './search/resource-criteria';
import { ResourceSearch } from './search/resource-search';
import { SearchIndex } from './search/search-index';
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
    EntryAccesses,
    WriteExtensions,
    ResourceKeys,
    ResourceStore,
    ResourceReader,
    ResourceWriter,
    SearchIndex,
    ResourceSearch,
    ResourceCriteria,
    ConditionMatches,
    ConditionalWriter,
  ],
  exports: [
    ResourceTypes,
    ResourceReader,
    ResourceWriter,
    SearchIndex,
    ResourceSearch,
    ResourceCriteria,
    ConditionalWriter,
    ConditionMatches,
    ResourceStore,
    WriteExtensions,
    EntryAccesses,
  ],
})
export class ResourceModule {}
