import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { EntryAccesses } from './entry-access.registry';

/** Decides access to parts of a request. A separate module, so that packages without resources need no store. */
@Module({ imports: [DiscoveryModule], providers: [EntryAccesses], exports: [EntryAccesses] })
export class EntryAccessModule {}
