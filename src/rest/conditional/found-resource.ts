import { Injectable } from '@nestjs/common';
import { EntryAccesses } from '../../resource/access/entry-access.registry';
import { type Reach } from '../../search/rows/reach';
import { type ResourceName } from '../../model/stored-resource';
import { readOf } from '../../resource/access/entry-access';

/**
 * Decides whether the answer to a write shows content that the caller did not send: the resource that the condition of
 * a create found, or that was patched or deleted. The policies granted the write. To show the content needs the grant
 * of a read.
 */
@Injectable()
export class FoundResource {
  constructor(private readonly access: EntryAccesses) {}

  /** @param reach the rows granted to the write, which concerns no other rows */
  async isShown(found: ResourceName, reach?: Reach): Promise<boolean> {
    if (reach?.rows !== undefined) return true;
    return this.access.wouldGrant(readOf(found));
  }
}
