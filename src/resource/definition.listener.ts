import { Injectable } from '@nestjs/common';
import { RegistryEpoch } from '../platform/database/registry-epoch';
import { OnResourceChange, type ResourceChangeListener } from './hooks/resource-change';

/**
 * Makes a changed compartment, profile or value set take effect on every replica. It takes effect for all requests that
 * begin after the response to the change.
 */
@Injectable()
@OnResourceChange({ types: ['CompartmentDefinition', 'StructureDefinition', 'ValueSet'] })
export class DefinitionListener implements ResourceChangeListener {
  constructor(private readonly epoch: RegistryEpoch) {}

  onChange(): Promise<void> {
    this.epoch.raise();
    return Promise.resolve();
  }
}
