import { Injectable } from '@nestjs/common';
import { type NativeReference } from '../../fhir/types';
import { AddendumEntries } from './addendum-entries.repository';
import { BREAKS, type ChainBreak, ChainCheck, type StoredLink } from './chain-check';

/** The result of a check: whether the addenda of a target are as they were recorded, and the first fault if not. */
export interface Verification {
  readonly target: NativeReference;
  readonly intact: boolean;
  /** How many addenda the chain proves: all of them, or those before the fault. */
  readonly length: number;
  /**
   * Hash of the last proven link, in hexadecimal. If a copy of the hash is kept outside the server, it proves later
   * that no addendum was removed from the end.
   */
  readonly head: string;
  readonly broken:
    | {
        readonly sequence: number | undefined;
        readonly addendum: NativeReference | undefined;
        readonly reason: string;
        readonly message: string;
      }
    | undefined;
}

/** Checks the chains of targets (docs/explanation/evidence.md). */
@Injectable()
export class Chains {
  constructor(private readonly entries: AddendumEntries) {}

  /** Checks a chain, a few links at a time. PostgreSQL hashes the texts of the addenda, so they are not transferred. */
  async check({ resourceType, id }: NativeReference): Promise<Verification> {
    const target = { id, resourceType };
    const check = new ChainCheck(target);
    const broken = (await this.follow(target, check)) ?? (await this.findUnlinked(target));
    return {
      target,
      intact: broken === undefined,
      length: check.length,
      head: check.head.toString('hex'),
      broken: broken && verifiedBreak(broken),
    };
  }

  private async follow(target: NativeReference, check: ChainCheck): Promise<ChainBreak | undefined> {
    for (;;) {
      const { links, head } = await this.entries.linksAfter(target, check.length);
      for (const link of links) {
        const broken = check.take(link);
        if (broken !== undefined)
          return (await this.isMisplaced(target, check, link)) ? { ...broken, reason: 'order' } : broken;
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

const verifiedBreak = ({ reason, sequence, addendumId }: ChainBreak): Verification['broken'] => ({
  sequence,
  addendum: addendumId === undefined ? undefined : { id: addendumId, resourceType: 'SDCAddendum' },
  reason,
  message: BREAKS[reason],
});
