import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { MetaStyles } from './meta-styles';
import { ResourceTypes } from './resource-types';

/** The resource types of this server, and the style of their `meta`. */
@Module({
  imports: [DiscoveryModule],
  providers: [ResourceTypes, MetaStyles],
  exports: [ResourceTypes, MetaStyles],
})
export class ModelModule {}
