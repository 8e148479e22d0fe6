import { Injectable } from '@nestjs/common';
import { EntryAccesses } from '../../resource/access/entry-access.registry';
import { type Reach } from '../../search/rows/reach';
import { type ResourceName } from '../../model/stored-resource';
import { readOf } from '../../resource/access/entry-access';

/**
 * Decides whether the answer to a conditional create shows the resource that the condition found. The policies granted
 * the create of the sent resource. The found one may be any resource of the type, so it needs a grant of its own.
 */
@Injectable()
export class FoundResource {
  constructor(private readonly access: EntryAccesses) {}

  /** @param reach the rows granted to the create; a condition finds no other rows */
  async isShown(found: ResourceName, reach?: Reach): Promise<boolean> {
    if (reach?.rows !== undefined) return true;
    return this.access.wouldGrant(readOf(found));
  }
}
