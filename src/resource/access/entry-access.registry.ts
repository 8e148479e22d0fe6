import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { HandlerRegistry } from '../../platform/discovery/handler-registry';
import { type NativeReference } from '../../fhir/types';
import { ServiceError } from '../../platform/errors/service-error';
import { type GrantedRows } from '../../platform/request/granted-rows';
import { DecidesEntryAccess, type EntryAccess, type EntryAccessRequest, type Reader } from './entry-access';

/** Whoever is registered decides; without anybody nothing is granted. */
@Injectable()
export class EntryAccesses extends HandlerRegistry<string, EntryAccess> {
  constructor(discovery: DiscoveryService) {
    super(discovery, DecidesEntryAccess, () => 'who decides');
  }

  /**
   * Tells which resources the part of the request may touch.
   * @throws ServiceError 'forbidden'
   */
  grant(request: EntryAccessRequest): Promise<GrantedRows> {
    return this.decide({ ...request, enforcesRows: true });
  }

  /**
   * For parts that cannot keep to row criteria: whoever is limited by them is refused.
   * @throws ServiceError 'forbidden'
   */
  async assertGranted(request: EntryAccessRequest): Promise<void> {
    await this.decide(request);
  }

  /** As {@link EntryAccess.wouldGrant}; without anybody who decides, nothing would be. */
  async wouldGrant(request: EntryAccessRequest): Promise<boolean> {
    return (await this.decider?.wouldGrant(request)) ?? false;
  }

  /** As {@link EntryAccess.searchedRows}; without anybody who decides, none. */
  async searchedRows(type: string): Promise<GrantedRows | undefined> {
    return this.decider?.searchedRows(type);
  }

  /** As {@link EntryAccess.refusalOfSearch}. */
  async refusalOfSearch(types: readonly string[]): Promise<ServiceError> {
    return (await this.decider?.refusalOfSearch(types)) ?? nobodyDecides();
  }

  /** As {@link EntryAccess.openedRows}; without anybody who decides, none. */
  async openedRows(): Promise<GrantedRows | undefined> {
    return this.decider?.openedRows();
  }

  /** As {@link EntryAccess.readerNamed}; without anybody who decides, nobody may read. */
  async readerNamed(principal: NativeReference): Promise<Reader | undefined> {
    return this.decider?.readerNamed(principal);
  }

  private get decider(): EntryAccess | undefined {
    return this.all()[0]?.handler;
  }

  private async decide(request: EntryAccessRequest): Promise<GrantedRows> {
    if (this.decider === undefined) throw nobodyDecides();
    return this.decider.grant(request);
  }
}

const nobodyDecides = (): ServiceError => new ServiceError('forbidden', 'Nobody decides who may do this.');
