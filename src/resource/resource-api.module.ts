import { Module } from '@nestjs/common';
import { HistoryController } from './api/history.controller';
import { ResourceController } from './api/resource.controller';
import { SearchController } from './api/search.controller';
import { VreadController } from './api/vread.controller';
import { ResourceModule } from './resource.module';

/** Routes of the resource API, imported by AppModule alone and last: `/:type` would answer for everybody else (ADR 0007). */
@Module({
  imports: [ResourceModule],
  controllers: [HistoryController, VreadController, SearchController, ResourceController],
})
export class ResourceApiModule {}
