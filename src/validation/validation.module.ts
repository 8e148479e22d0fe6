import { Module } from '@nestjs/common';
import { OperationModule } from '../operation/operation.module';
import { ResourceModule } from '../resource/resource.module';
import { DryRun } from './dry-run';
import { ValidateAny } from './validate-any.operation';
import { ValidateInstance } from './validate-instance.operation';
import { ValidateType } from './validate-type.operation';

/** The operation `$validate`, which makes the same checks as every write. */
@Module({
  imports: [OperationModule, ResourceModule],
  providers: [DryRun, ValidateAny, ValidateInstance, ValidateType],
})
export class ValidationModule {}
