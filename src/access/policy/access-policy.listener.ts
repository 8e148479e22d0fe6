import { Injectable } from '@nestjs/common';
import { RegistryEpoch } from '../../platform/database/registry-epoch';
import { OnResourceChange, type ResourceChangeListener } from '../../resource/hooks/resource-change';

/** A changed policy is in force on every replica for each request that begins after the change was answered. */
@Injectable()
@OnResourceChange({ types: ['AccessPolicy'] })
export class AccessPolicyListener implements ResourceChangeListener {
  constructor(private readonly epoch: RegistryEpoch) {}

  onChange(): Promise<void> {
    this.epoch.raise();
    return Promise.resolve();
  }
}
