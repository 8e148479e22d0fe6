import { Injectable } from '@nestjs/common';
import { type NativeReference } from '../../fhir/types';
import { AddendumEntries } from './addendum-entries.repository';
import { type ChainBreak, ChainCheck, type StoredLink } from './chain-check';

export interface ChainState {
  /** How many links are intact: all links of the chain, or those before the fault. */
  readonly length: number;
  readonly head: Buffer;
  readonly broken: ChainBreak | undefined;
}

/** Checks the chains of targets (docs/explanation/evidence.md). */
@Injectable()
export class Chains {
  constructor(private readonly entries: AddendumEntries) {}

  /** Checks a chain, a few links at a time. PostgreSQL hashes the texts of the addenda, so they are not transferred. */
  async check(target: NativeReference): Promise<ChainState> {
    const check = new ChainCheck(target);
    const broken = (await this.follow(target, check)) ?? (await this.findUnlinked(target));
    return { length: check.length, head: check.head, broken };
  }

  private async follow(target: NativeReference, check: ChainCheck): Promise<ChainBreak | undefined> {
    for (;;) {
      const { links, head } = await this.entries.linksAfter(target, check.length);
      for (const link of links) {
        const broken = check.take(link);
        if (broken !== undefined) return (await this.isMisplaced(target, check, link)) ? inOrder(broken) : broken;
      }
      if (links.length === 0) return check.finish(head);
    }
  }

  private async isMisplaced(target: NativeReference, check: ChainCheck, found: StoredLink): Promise<boolean> {
    const stands = found.sequence === check.length + 1 ? found : undefined;
    for (let last = 0; ;) {
      const { links } = await this.entries.linksAfter(target, last);
      if (links.some((link) => check.isMisplaced(link, stands))) return true;
      const end = links.at(-1);
      if (end === undefined) return false;
      last = end.sequence;
    }
  }

  private async findUnlinked(target: NativeReference): Promise<ChainBreak | undefined> {
    const addendumId = await this.entries.findUnlinked(target);
    return addendumId === undefined ? undefined : { reason: 'no-link', addendumId };
  }
}

const inOrder = (broken: ChainBreak): ChainBreak => ({ ...broken, reason: 'order' });
