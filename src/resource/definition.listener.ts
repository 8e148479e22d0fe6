import { Injectable } from '@nestjs/common';
import { RegistryEpoch } from '../platform/database/registry-epoch';
import { OnResourceChange, type ResourceChangeListener } from './hooks/resource-change';

/**
 * A changed compartment, profile or value set is in force on every replica for each request that begins after the change
 * was answered.
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
