import { Injectable } from '@nestjs/common';
import { RegistryEpoch } from '../../platform/database/registry-epoch';
import {
  OnResourceChange,
  type ResourceChange,
  type ResourceChangeListener,
} from '../../resource/hooks/resource-change';

/**
 * Raises the epochs (counters that caches compare) when a policy, User, Client or Role changes. So every replica
 * applies the change to each request that begins after the response to the change.
 */
@Injectable()
@OnResourceChange({ types: ['AccessPolicy', 'User', 'Client', 'Role'] })
export class RightsListener implements ResourceChangeListener {
  constructor(private readonly epoch: RegistryEpoch) {}

  onChange({ type }: ResourceChange): Promise<void> {
    this.epoch.raise(type === 'AccessPolicy' ? 'registries' : 'rights');
    return Promise.resolve();
  }
}
