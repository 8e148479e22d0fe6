import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { MetaStyles } from './meta-style';
import { ResourceTypes } from './resource-types';

/** The resource types of this server, and for each type the style of its `meta`: that of FHIR, or of this server. */
@Module({
  imports: [DiscoveryModule],
  providers: [ResourceTypes, MetaStyles],
  exports: [ResourceTypes, MetaStyles],
})
export class ModelModule {}
