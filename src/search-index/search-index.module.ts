import { Module } from '@nestjs/common';
import { ModelModule } from '../model/model.module';
import { DatabaseHashKey } from './database-hash-key';
import { SearchIndex } from './search-index';
import { IncompleteIndexes } from './states/incomplete-indexes';
import { IndexMetrics } from './states/index.metrics';
import { ParameterStates } from './states/parameter-states.repository';

/** Search parameters, their states, and the index rows that they find in a resource. */
@Module({
  imports: [ModelModule],
  providers: [DatabaseHashKey, SearchIndex, ParameterStates, IndexMetrics, IncompleteIndexes],
  exports: [SearchIndex, ParameterStates, IncompleteIndexes],
})
export class SearchIndexModule {}
