import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { type Statement } from '../../platform/database/statement';
import { Statements } from '../../platform/database/statements';

const FIND: Statement = {
  name: 'client-secret-find',
  text: 'select secret_hash from client_secret where client_id = $1',
};
const SET: Statement = {
  name: 'client-secret-set',
  text: `insert into client_secret (client_id, secret_hash) values ($1, $2)
    on conflict (client_id) do update set secret_hash = excluded.secret_hash`,
};

/** Stores the SHA-256 hashes of Clients' secrets. A fast hash is enough, since secrets are generated and long. */
@Injectable()
export class ClientSecrets {
  constructor(private readonly statements: Statements) {}

  async set(clientId: string, secret: string): Promise<void> {
    await this.statements.run(SET, [clientId, secretHashOf(secret)]);
  }

  /** Returns the hash of a Client's secret; undefined for a Client without a secret. */
  async find(clientId: string): Promise<Buffer | undefined> {
    return (await this.statements.runOne<{ secret_hash: Buffer }>(FIND, [clientId]))?.secret_hash;
  }
}

export const secretHashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();
