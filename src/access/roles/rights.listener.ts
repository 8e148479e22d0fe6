import { Injectable } from '@nestjs/common';
import { RegistryEpoch } from '../../platform/database/registry-epoch';
import { OnResourceChange, type ResourceChangeListener } from '../../resource/hooks/resource-change';

/**
 * Whoever is remembered as a reader is read again: what a User, Client or Role may is in force on every replica for each
 * write that is requested after the change was answered.
 */
@Injectable()
@OnResourceChange({ types: ['User', 'Client', 'Role'] })
export class RightsListener implements ResourceChangeListener {
  constructor(private readonly epoch: RegistryEpoch) {}

  onChange(): Promise<void> {
    this.epoch.raiseRights();
    return Promise.resolve();
  }
}
