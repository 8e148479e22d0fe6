import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { OperationRegistry } from './operation.registry';

/** The door for `$operations`; its routes are in {@link OperationApiModule}. */
@Module({ imports: [DiscoveryModule], providers: [OperationRegistry], exports: [OperationRegistry] })
export class OperationModule {}
