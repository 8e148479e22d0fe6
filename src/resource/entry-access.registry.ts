import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { HandlerRegistry } from '../platform/discovery/handler-registry';
import { ServiceError } from '../platform/errors/service-error';
import { DecidesEntryAccess, type EntryAccess, type EntryAccessRequest } from './entry-access';

/** Every registered decision must grant; without one nothing is granted. */
@Injectable()
export class EntryAccesses extends HandlerRegistry<string, EntryAccess> {
  constructor(discovery: DiscoveryService) {
    super(discovery, DecidesEntryAccess, (name) => name);
  }

  async assertGranted(request: EntryAccessRequest): Promise<void> {
    const deciders = this.all();
    if (deciders.length === 0) throw new ServiceError('forbidden', 'Nobody decides who may write.');
    for (const { handler } of deciders) await handler.assertGranted(request);
  }
}
