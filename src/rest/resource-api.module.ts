import { Module } from '@nestjs/common';
import { BundleController } from './bundle/bundle.controller';
import { CompartmentController } from './api/compartment.controller';
import { HistoryController } from './api/history.controller';
import { OtherMethodsController } from './api/other-methods.controller';
import { ResourceController } from './api/resource.controller';
import { SearchRequests } from './api/search-request';
import { SearchController } from './api/search.controller';
import { ShownResources } from './api/shown-resources';
import { TypesSearchController } from './api/types-search.controller';
import { TypesSearchRequests } from './api/types-search-request';
import { VreadController } from './api/vread.controller';
import { WriteController } from './api/write.controller';
import { WriteRequests } from './api/write-requests';
import { ConditionalWriter } from './conditional/conditional-writer';
import { BundleModule } from './bundle/bundle.module';
import { ResourceModule } from '../resource/resource.module';

/** Routes of the resource API, imported by AppModule alone and last: `/:type` would answer for everybody else (ADR 0007). */
@Module({
  imports: [ResourceModule, BundleModule],
  controllers: [
    BundleController,
    TypesSearchController,
    OtherMethodsController,
    HistoryController,
    VreadController,
    SearchController,
    WriteController,
    ResourceController,
    CompartmentController,
  ],
  providers: [ConditionalWriter, SearchRequests, ShownResources, TypesSearchRequests, WriteRequests],
})
export class ResourceApiModule {}
