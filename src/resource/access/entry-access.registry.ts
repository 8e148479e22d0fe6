import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { HandlerRegistry } from '../../platform/discovery/handler-registry';
import { ServiceError } from '../../platform/errors/service-error';
import { type GrantedRows } from '../../platform/request/granted-rows';
import { DecidesEntryAccess, type EntryAccess, type EntryAccessRequest } from './entry-access';

/** Holds the one registered {@link EntryAccess}. If none is registered, every request is refused. */
@Injectable()
export class EntryAccesses extends HandlerRegistry<string, EntryAccess> {
  constructor(discovery: DiscoveryService) {
    super(discovery, DecidesEntryAccess, () => 'who decides');
  }

  /** Decides access for calling code that itself enforces the granted rows. */
  async grant(request: EntryAccessRequest): Promise<GrantedRows> {
    return this.decider.grant(Object.assign({}, request, { enforcesRows: true }));
  }

  /**
   * Decides access for operations that cannot enforce row criteria. A user or client who may access only some rows is
   * refused.
   * @throws ServiceError 'forbidden'
   */
  async assertGranted(request: EntryAccessRequest): Promise<void> {
    await this.decider.grant(request);
  }

  get decider(): EntryAccess {
    const [only] = this.all();
    if (only !== undefined) return only.handler;
    throw new ServiceError('forbidden', 'No access control is registered for this request.');
  }
}
