import { Injectable } from '@nestjs/common';
import { type Resource } from '../fhir/types';
import { CachedRegistry, RegistryEpoch } from '../platform/database/registry-epoch';
import { UnitOfWork } from '../platform/database/unit-of-work';
import { ResourceReader } from '../resource/resource-reader';
import { type AccessPolicy, accessPolicyOf } from './access-policy';

/** All stored policies, as of the epoch of the request. */
@Injectable()
export class AccessPolicies {
  private readonly cached: CachedRegistry<readonly AccessPolicy[]>;

  constructor(epoch: RegistryEpoch, unitOfWork: UnitOfWork, reader: ResourceReader) {
    this.cached = new CachedRegistry(epoch, unitOfWork, async () => {
      const stored = await reader.list('AccessPolicy');
      return stored.map(({ text }) => accessPolicyOf(JSON.parse(text) as Resource));
    });
  }

  all(): Promise<readonly AccessPolicy[]> {
    return this.cached.get();
  }
}
