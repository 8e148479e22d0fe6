import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { MetaStyles } from './meta-styles';
import { ResourceTypes } from './resource-types';

/** The resource types of this server, and how each tells its versions. */
@Module({
  imports: [DiscoveryModule],
  providers: [ResourceTypes, MetaStyles],
  exports: [ResourceTypes, MetaStyles],
})
export class ModelModule {}
