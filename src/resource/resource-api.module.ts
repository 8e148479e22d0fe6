import { Module } from '@nestjs/common';
import { ConditionalController } from './api/conditional.controller';
import { HistoryController } from './api/history.controller';
import { PatchController } from './api/patch.controller';
import { ResourceController } from './api/resource.controller';
import { SearchController } from './api/search.controller';
import { ResourceModule } from './resource.module';

/** Routes of the resource API, imported by AppModule alone and last: `/:type` would answer for everybody else (ADR 0007). */
@Module({
  imports: [ResourceModule],
  controllers: [HistoryController, SearchController, PatchController, ConditionalController, ResourceController],
})
export class ResourceApiModule {}
