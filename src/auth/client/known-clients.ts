import { Injectable } from '@nestjs/common';
import { RegistryEpoch } from '../../platform/database/registry-epoch';
import { ResourceReader } from '../../store/resource-reader';
import { type Client, clientOf } from './client';
import { ClientSecrets } from './client-secrets.repository';

/** A stored Client and the hash of its secret. */
export interface KnownClient extends Client {
  readonly secretHash: Buffer | undefined;
}

/** Above it the Client that was read first is forgotten. */
const MOST_CLIENTS = 1_000;

/** Clients by id, kept while the epoch of rights stays: each write of a Client raises it, so a change counts on every replica at once. */
@Injectable()
export class KnownClients {
  private readonly known = new Map<string, { readonly rights: number; readonly client: KnownClient }>();

  constructor(
    private readonly epoch: RegistryEpoch,
    private readonly reader: ResourceReader,
    private readonly secrets: ClientSecrets,
  ) {}

  async find(id: string): Promise<KnownClient | undefined> {
    const { rights } = await this.epoch.current();
    const known = this.known.get(id);
    if (known !== undefined && known.rights >= rights) return known.client;
    this.known.delete(id);
    const stored = await this.reader.find('Client', id);
    if (stored === undefined) return undefined;
    const client = { ...clientOf(stored.text), secretHash: await this.secrets.find(id) };
    this.known.set(id, { rights, client });
    const [first] = this.known.keys();
    if (this.known.size > MOST_CLIENTS && first !== undefined) this.known.delete(first);
    return client;
  }
}
