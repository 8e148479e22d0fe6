import { Module } from '@nestjs/common';
import { ResourceModule } from '../resource/resource.module';
import { CompartmentController } from './api/compartment.controller';
import { HistoryController } from './api/history.controller';
import { ResourceController } from './api/resource.controller';
import { SearchRequests } from './api/search-request';
import { SearchController } from './api/search.controller';
import { WriteController } from './api/write.controller';
import { BatchRunner } from './bundle/batch-runner';
import { BundleController } from './bundle/bundle.controller';
import { BundleProcessor } from './bundle/bundle-processor';
import { EntryReads } from './bundle/entry-reads';
import { EntryRoutes } from './bundle/entry-routes';
import { FoundMatches } from './bundle/found-matches';
import { InitBundle } from './bundle/init-bundle';
import { TransactionPlanner } from './bundle/transaction-planner';
import { TransactionRunner } from './bundle/transaction-runner';
import { WriteIntents } from './bundle/write-intents';
import { ConditionMatches } from './conditional/condition-matches';
import { ConditionalWriter } from './conditional/conditional-writer';
import { ShownContent } from './conditional/shown-content';

/**
 * Routes of the resource API. Only AppModule imports this module, and imports it last: its route `/:type` would match
 * the routes of other modules (ADR 0007).
 */
@Module({
  imports: [ResourceModule],
  controllers: [
    BundleController,
    HistoryController,
    SearchController,
    WriteController,
    ResourceController,
    CompartmentController,
  ],
  providers: [
    SearchRequests,
    ConditionalWriter,
    ConditionMatches,
    ShownContent,
    BundleProcessor,
    InitBundle,
    BatchRunner,
    TransactionRunner,
    WriteIntents,
    TransactionPlanner,
    FoundMatches,
    EntryRoutes,
    EntryReads,
  ],
})
export class ResourceApiModule {}
