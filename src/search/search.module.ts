import { Module } from '@nestjs/common';
import { ModelModule } from '../model/model.module';
import { SearchIndexModule } from '../search-index/search-index.module';
import { StoreModule } from '../store/store.module';
import { ClauseResolver } from './run/clause-resolver';
import { IncludedResources } from './include/included-resources';
import { NamedResources } from './include/named-resources';
import { ResourceCriteria } from './run/resource-criteria';
import { ResourceSearch } from './run/resource-search';
import { SearchScopes } from './parse/search-scopes';
import { RowFrequencies } from './run/row-frequencies';
import { RowCriteria } from './rows/row-criteria';
import { TypesSearch } from './types/types-search';
import { ValueSetCodes } from './run/value-set-codes';

/** Searches of one type, of several types, and by the criteria of conditional writes. */
@Module({
  imports: [ModelModule, SearchIndexModule, StoreModule],
  providers: [
    SearchScopes,
    ClauseResolver,
    ValueSetCodes,
    RowFrequencies,
    NamedResources,
    IncludedResources,
    ResourceSearch,
    TypesSearch,
    ResourceCriteria,
    RowCriteria,
  ],
  exports: [SearchScopes, ClauseResolver, ResourceSearch, TypesSearch, ResourceCriteria, RowCriteria],
})
export class SearchModule {}
