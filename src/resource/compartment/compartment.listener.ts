import { Injectable } from '@nestjs/common';
import { RegistryEpoch } from '../../platform/database/registry-epoch';
import { OnResourceChange, type ResourceChangeListener } from '../hooks/resource-change';

/** An edited compartment is in force at the next call, on every replica. */
@Injectable()
@OnResourceChange({ types: ['CompartmentDefinition'] })
export class CompartmentListener implements ResourceChangeListener {
  constructor(private readonly epoch: RegistryEpoch) {}

  onChange(): Promise<void> {
    this.epoch.raise();
    return Promise.resolve();
  }
}
