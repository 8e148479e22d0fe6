import { Module } from '@nestjs/common';
import { OperationModule } from '../operation/operation.module';
import { ResourceModule } from '../resource/resource.module';
import { CompartmentAnswers } from './compartment-answers';
import { CompartmentSetup } from './compartment-setup';
import { PageLists } from './pages/page-lists';
import { PageWriter } from './pages/page-writer';
import { PatientEverything } from './patient-everything.operation';
import { CompartmentReader } from './read/compartment-reader';
import { CompartmentSlots } from './read/compartment-slots';
import { EverythingCalls } from './request/everything-call';

@Module({
  imports: [OperationModule, ResourceModule],
  providers: [
    PatientEverything,
    EverythingCalls,
    CompartmentReader,
    CompartmentSlots,
    CompartmentAnswers,
    PageLists,
    PageWriter,
    CompartmentSetup,
  ],
})
export class EverythingModule {}
