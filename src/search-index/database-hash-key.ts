import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type Statement } from '../platform/database/statement';
import { Statements } from '../platform/database/statements';
import { type HashKey } from './extract/half-siphash';
import { useHashKey } from './extract/hash';

export const READ_HASH_KEY: Statement = { name: 'search-hash-key', text: 'select low, high from search_hash_key' };

/** Loads the key of the search rows before anything is written or searched: it is the database's, so all replicas share it. */
@Injectable()
export class DatabaseHashKey implements OnModuleInit {
  constructor(private readonly statements: Statements) {}

  async onModuleInit(): Promise<void> {
    const key = await this.statements.runOne<HashKey & Record<string, number>>(READ_HASH_KEY, []);
    if (key === undefined)
      throw new Error('The table search_hash_key is empty: restore it, or no search row can be found.');
    useHashKey(key);
  }
}
