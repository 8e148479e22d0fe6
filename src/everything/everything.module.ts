import { Module } from '@nestjs/common';
import { OperationModule } from '../operation/operation.module';
import { ResourceModule } from '../resource/resource.module';
import { ChartReader } from './chart-reader';
import { CompartmentSetup } from './compartment-setup';
import { PatientEverything } from './patient-everything.operation';

@Module({
  imports: [OperationModule, ResourceModule],
  providers: [PatientEverything, ChartReader, CompartmentSetup],
})
export class EverythingModule {}
