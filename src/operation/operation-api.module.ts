import { Module } from '@nestjs/common';
import { ResourceModule } from '../resource/resource.module';
import { CapabilityController } from './capability.controller';
import { CapabilityStatements } from './capability-statement';
import { OperationController } from './operation.controller';
import { OperationModule } from './operation.module';

/** The routes of the operations. Only AppModule imports it, since their paths match any type (ADR 0007). */
@Module({
  imports: [OperationModule, ResourceModule],
  controllers: [CapabilityController, OperationController],
  providers: [CapabilityStatements],
})
export class OperationApiModule {}
