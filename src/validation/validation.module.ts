import { Module } from '@nestjs/common';
import { OperationModule } from '../operation/operation.module';
import { ResourceModule } from '../resource/resource.module';
import { DryRun } from './dry-run';
import { ValidateAny, ValidateInstance, ValidateType } from './validate.operations';

/** The operation `$validate`, which makes the same checks as every write. */
@Module({
  imports: [OperationModule, ResourceModule],
  providers: [DryRun, ValidateAny, ValidateInstance, ValidateType],
})
export class ValidationModule {}
