import { Injectable } from '@nestjs/common';
import { KeptByRights } from '../../platform/database/kept-by-rights';
import { RegistryEpoch } from '../../platform/database/registry-epoch';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { ResourceReader } from '../../store/resource-reader';
import { type Client, clientOf } from './client';
import { ClientSecrets } from './client-secrets.repository';

/** A stored Client and the hash of its secret. */
export interface KnownClient extends Client {
  readonly secretHash: Buffer | undefined;
}

/** Clients by id, in memory by the epoch of rights. */
@Injectable()
export class KnownClients {
  private readonly known: KeptByRights<KnownClient | undefined>;

  constructor(
    epoch: RegistryEpoch,
    unitOfWork: UnitOfWork,
    private readonly reader: ResourceReader,
    private readonly secrets: ClientSecrets,
  ) {
    this.known = new KeptByRights(
      epoch,
      unitOfWork,
      (id) => this.read(id),
      (client) => client !== undefined,
    );
  }

  find(id: string): Promise<KnownClient | undefined> {
    return this.known.get(id);
  }

  private async read(id: string): Promise<KnownClient | undefined> {
    const stored = await this.reader.find('Client', id);
    return stored === undefined ? undefined : { ...clientOf(stored.text), secretHash: await this.secrets.find(id) };
  }
}
