import { Module } from '@nestjs/common';
import { OperationModule } from '../operation/operation.module';
import { ResourceModule } from '../resource/resource.module';
import { ChartAnswers } from './chart-answers';
import { ChartExplanation } from './chart-explanation';
import { ChartManifest } from './chart-manifest';
import { ChartPages } from './chart-pages';
import { ChartReader } from './chart-reader';
import { ChartSlots } from './chart-slots';
import { CompartmentSetup } from './compartment-setup';
import { EverythingCalls } from './everything-call';
import { LargeCharts } from './large-charts';
import { ListSweeper } from './list-sweeper';
import { PageLists } from './page-lists';
import { PatientEverything } from './patient-everything.operation';

@Module({
  imports: [OperationModule, ResourceModule],
  providers: [
    PatientEverything,
    EverythingCalls,
    ChartAnswers,
    ChartReader,
    LargeCharts,
    ChartSlots,
    PageLists,
    ChartPages,
    ListSweeper,
    ChartManifest,
    ChartExplanation,
    CompartmentSetup,
  ],
})
export class EverythingModule {}
