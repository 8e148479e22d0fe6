import { Module } from '@nestjs/common';
import { ResourceModule } from '../../resource/resource.module';
import { ConditionMatches } from '../conditional/condition-matches';
import { BatchRunner } from './batch-runner';
import { BundleProcessor } from './bundle-processor';
import { EntryPatches } from './entry-patches';
import { EntryReads } from './entry-reads';
import { EntryRoutes } from './entry-routes';
import { FoundMatches } from './found-matches';
import { InitBundle } from './init-bundle';
import { TransactionPlanner } from './transaction-planner';
import { TransactionRunner } from './transaction-runner';
import { WriteIntents } from './write-intents';

/** Batches and transactions over the resource store. */
@Module({
  imports: [ResourceModule],
  providers: [
    BundleProcessor,
    InitBundle,
    BatchRunner,
    TransactionRunner,
    WriteIntents,
    TransactionPlanner,
    FoundMatches,
    ConditionMatches,
    EntryPatches,
    EntryRoutes,
    EntryReads,
  ],
  exports: [BundleProcessor, InitBundle, ConditionMatches],
})
export class BundleModule {}
