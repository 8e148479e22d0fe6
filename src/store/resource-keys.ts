import { Injectable } from '@nestjs/common';
import { type Statement } from '../platform/database/statement';
import { Statements } from '../platform/database/statements';

const NEXT_BLOCK: Statement = { name: 'resource-key-block', text: `select nextval('resource_key_sequence') as first` };

/** The number of keys that one nextval reserves: the increment of the sequence. */
const BLOCK_SIZE = 1000;

/**
 * Assigns row keys from blocks that this process has reserved. So a create needs no round trip for a key before it
 * writes its index rows. Keys that a process did not use are lost: those left when it stops, and those of blocks that
 * concurrent requests reserve at once.
 */
@Injectable()
export class ResourceKeys {
  private next = 0;
  private end = 0;

  constructor(private readonly statements: Statements) {}

  async take(): Promise<number> {
    if (this.next >= this.end) {
      const block = await this.statements.runOne<{ first: number }>(NEXT_BLOCK, []);
      if (block === undefined) throw new Error('resource_key_sequence gave no key');
      this.next = block.first;
      this.end = block.first + BLOCK_SIZE;
    }
    return this.next++;
  }
}
