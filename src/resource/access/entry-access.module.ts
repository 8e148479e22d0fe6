import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { EntryAccesses } from './entry-access.registry';

/** Asks whoever decides about parts of a request; a door of its own, so that rooms without resources need no store. */
@Module({ imports: [DiscoveryModule], providers: [EntryAccesses], exports: [EntryAccesses] })
export class EntryAccessModule {}
