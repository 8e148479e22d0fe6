import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { EntryAccesses } from './entry-access.registry';

/**
 * Decides access to parts of a request. It is a separate module, so that packages without resources can import it
 * without the store.
 */
@Module({ imports: [DiscoveryModule], providers: [EntryAccesses], exports: [EntryAccesses] })
export class EntryAccessModule {}
