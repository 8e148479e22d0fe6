import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { HandlerRegistry } from '../../platform/discovery/handler-registry';
import { type NativeReference } from '../../fhir/types';
import { ServiceError } from '../../platform/errors/service-error';
import { type GrantedRows } from '../../platform/request/granted-rows';
import { DecidesEntryAccess, type EntryAccess, type EntryAccessRequest, type Reader } from './entry-access';

/** Holds the one registered {@link EntryAccess}. If none is registered, every request is refused. */
@Injectable()
export class EntryAccesses extends HandlerRegistry<string, EntryAccess> implements EntryAccess {
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

  async rowsOf(request: EntryAccessRequest): Promise<GrantedRows | undefined> {
    return this.decider.rowsOf(request);
  }

  async searchedRows(type: string): Promise<GrantedRows | undefined> {
    return this.decider.searchedRows(type);
  }

  async refusalOfSearch(types: readonly string[]): Promise<ServiceError> {
    return this.decider.refusalOfSearch(types);
  }

  async openedRows(): Promise<GrantedRows | undefined> {
    return this.decider.openedRows();
  }

  async assertMayRedefine(parameters: Parameters<EntryAccess['assertMayRedefine']>[0]): Promise<void> {
    await this.decider.assertMayRedefine(parameters);
  }

  async readerNamed(principal: NativeReference): Promise<Reader | undefined> {
    return this.decider.readerNamed(principal);
  }

  private get decider(): EntryAccess {
    const [only] = this.all();
    if (only !== undefined) return only.handler;
    throw new ServiceError('forbidden', 'No access control is registered for this request.');
  }
}
