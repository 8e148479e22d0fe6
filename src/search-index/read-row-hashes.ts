import { type FactoryProvider } from '@nestjs/common';
import { type Statement } from '../platform/database/statement';
import { Statements } from '../platform/database/statements';
import { type HashKey } from './extract/half-siphash';
import { RowHashes } from './extract/row-hashes';

export const READ_HASH_KEY: Statement = { name: 'search-hash-key', text: 'select low, high from search_hash_key' };

/** Creates the hashes with the key that the database stores. So all replicas compute the same hashes. */
export async function readRowHashes(statements: Pick<Statements, 'runOne'>): Promise<RowHashes> {
  const key = await statements.runOne<HashKey>(READ_HASH_KEY, []);
  if (key === undefined)
    throw new Error('The table search_hash_key is empty: restore it, or no search row can be found.');
  return new RowHashes(key);
}

/**
 * Provides the hashes of index rows. Nest resolves this asynchronous factory before it creates a provider that needs
 * the hashes, so no provider has to wait for the key.
 */
export const ROW_HASHES: FactoryProvider<RowHashes> = {
  provide: RowHashes,
  inject: [Statements],
  useFactory: readRowHashes,
};
