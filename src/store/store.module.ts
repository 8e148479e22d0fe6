import { Module } from '@nestjs/common';
import { ModelModule } from '../model/model.module';
import { SearchIndexModule } from '../search-index/search-index.module';
import { IndexJob } from './index-job';
import { KnownUnits } from './known-units';
import { LateTexts } from './late-texts';
import { ResourceKeys } from './resource-keys';
import { ResourceReader } from './resource-reader';
import { ResourceStore } from './resource-store';

/** Reads and writes the tables of resources and of their index rows. */
@Module({
  imports: [ModelModule, SearchIndexModule],
  providers: [ResourceStore, ResourceKeys, KnownUnits, ResourceReader, LateTexts, IndexJob],
  exports: [ResourceStore, ResourceReader, LateTexts],
})
export class StoreModule {}
