import { Injectable } from '@nestjs/common';
import { CachedRegistry, RegistryEpoch } from '../../platform/database/registry-epoch';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { type NativeReference } from '../../fhir/types';
import { Roles } from '../roles/roles';
import { AccessRequests } from './access-requests';
import { type LazyRequest } from './lazy-request';

/** Principals of destinations, of which there are some; callers who ask for events come on top. */
const MAX_READERS = 1_000;

/** Those who do not call now, and whose rights are asked about with each write: their User, Client and Roles in memory. */
@Injectable()
export class KnownReaders {
  /** Filled as readers are asked for; the epoch of rights empties it. */
  private readonly known: CachedRegistry<Map<string, LazyRequest>>;

  constructor(
    private readonly epoch: RegistryEpoch,
    private readonly unitOfWork: UnitOfWork,
    private readonly asked: AccessRequests,
    private readonly roles: Roles,
  ) {
    const empty = (): Promise<Map<string, LazyRequest>> => Promise.resolve(new Map<string, LazyRequest>());
    this.known = new CachedRegistry(epoch, unitOfWork, empty, 'rights');
  }

  /** With User, Client and Roles as of the epoch of rights of the request, or as the open transaction has changed them. */
  async of(principal: NativeReference): Promise<LazyRequest> {
    if (this.epoch.isReadAnew) return this.load(principal);
    const name = `${principal.resourceType}/${principal.id}`;
    const known = await this.known.get();
    const found = known.get(name);
    if (found !== undefined) return found;
    const reader = await this.load(principal);
    if (this.unitOfWork.isOpen) {
      // It may have been read from a snapshot that is older than the epoch: only the next one is kept.
      this.unitOfWork.afterCommit(() => this.of(principal));
      return reader;
    }
    if (known.size >= MAX_READERS) known.clear();
    known.set(name, reader);
    return reader;
  }

  /** All at once: what is read later might be read in somebody else's transaction. */
  private async load(principal: NativeReference): Promise<LazyRequest> {
    const reader = this.asked.ofReader(principal);
    await reader.read(['user', 'client']);
    await this.roles.of(reader.caller);
    return reader;
  }
}
