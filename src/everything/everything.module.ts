import { Module } from '@nestjs/common';
import { OperationModule } from '../operation/operation.module';
import { ResourceModule } from '../resource/resource.module';
import { CompartmentListener } from './compartment.listener';
import { CompartmentMembers } from './compartment-members';
import { CompartmentSetup } from './compartment-setup';
import { PatientCompartments } from './patient-compartments';
import { PatientEverything } from './patient-everything.operation';

@Module({
  imports: [OperationModule, ResourceModule],
  providers: [PatientEverything, PatientCompartments, CompartmentMembers, CompartmentListener, CompartmentSetup],
})
export class EverythingModule {}
