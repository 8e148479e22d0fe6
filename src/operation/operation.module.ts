import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { ResourceModule } from '../resource/resource.module';
import { IndexesStatusOperation, IndexStatusOperation } from './index-status.operation';
import { OperationRegistry } from './operation.registry';
import { VersionOperation } from './version.operation';

/** Registers the operations. Their routes are in {@link OperationApiModule}. */
@Module({
  imports: [DiscoveryModule, ResourceModule],
  providers: [OperationRegistry, IndexStatusOperation, IndexesStatusOperation, VersionOperation],
  exports: [OperationRegistry],
})
export class OperationModule {}
