import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { ResourceChangeListeners } from './resource-change.registry';
import { ResourceReader } from './resource-reader';
import { ResourceRules } from './resource-rule.registry';
import { ResourceTypes } from './resource-types';
import { ResourceWriter } from './resource-writer';
import { ResourceSearch } from './search/resource-search';
import { SearchIndex } from './search/search-index';
import { ResourceKeys } from './store/resource-keys';
import { ResourceStore } from './store/resource-store';
import { ProfileListener } from './validation/profile.listener';
import { ReferenceExistence } from './validation/reference-existence';
import { WriteValidation } from './validation/write-validation';
import { ProfileValidation } from './validation/profile-validation';
import { ResourceValidation } from './validation/resource-validation';
import { StoredDefinitions } from './validation/stored-definitions';
import { WriteExtensions } from './write-extensions';

/** The resource store for other modules; its routes are in ResourceApiModule. */
@Module({
  imports: [DiscoveryModule],
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
    ResourceWriter,
    SearchIndex,
    ResourceSearch,
  ],
  exports: [
    ResourceTypes,
    ResourceReader,
    ReferenceExistence,
    WriteExtensions,
    ResourceWriter,
    SearchIndex,
    ResourceSearch,
  ],
})
export class ResourceModule {}
