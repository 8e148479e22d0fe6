import { Module } from '@nestjs/common';
import { ModelModule } from '../model/model.module';
import { RowHashes } from './extract/row-hashes';
import { ROW_HASHES } from './read-row-hashes';
import { SearchIndex } from './search-index';
import { IndexMetrics } from './states/index.metrics';
import { ParameterStates } from './states/parameter-states.repository';

/** Search parameters, their states, and the index rows that they extract from a resource. */
@Module({
  imports: [ModelModule],
  providers: [ROW_HASHES, SearchIndex, ParameterStates, IndexMetrics],
  exports: [RowHashes, SearchIndex, ParameterStates],
})
export class SearchIndexModule {}
