import { type NativeReference } from '../../fhir/types';
import { type Link, linkHash, NO_LINK } from './link-hash';

/** A link as it is found, beside what is stored now of its addendum. */
export interface StoredLink extends Link {
  readonly linkHash: Buffer;
  /** SHA-256 of the text that is stored now; null when the addendum is gone. */
  readonly foundTextHash: Buffer | null;
}

/** A link beside the head of its chain, as both are read; without a link its columns are null, and so are those of a target. */
export interface LinkRow extends Omit<StoredLink, 'sequence'> {
  readonly sequence: number | null;
  readonly lastSequence: number | null;
  readonly headHash: Buffer | null;
}

export const isLink = (row: LinkRow): row is LinkRow & StoredLink => row.sequence !== null;

/** Length and head of a chain, from the row of its target. */
export interface ChainHead {
  readonly lastSequence: number;
  readonly headHash: Buffer;
}

export const headIn = ({ lastSequence, headHash }: LinkRow): ChainHead | undefined =>
  lastSequence === null || headHash === null ? undefined : { lastSequence, headHash };

/** The faults of a chain, in words. */
export const BREAKS = {
  'changed-text': 'The text of the addendum is not the one that was recorded.',
  'missing-addendum': 'The addendum of this link is gone.',
  'missing-link': 'The link with this number is gone.',
  'changed-link':
    'The link does not follow from the one before it: the row of the link, or of one before it, was changed.',
  order: 'What stands here belongs to another place of the chain.',
  'changed-head': 'The end of the chain is not where its target says it is.',
  'missing-head': 'The target does not know of its chain any more.',
  'no-link': 'The addendum names the target, and no link vouches for it.',
} as const;

export interface ChainBreak {
  readonly reason: keyof typeof BREAKS;
  /** The place in the chain; absent for an addendum that has none. */
  readonly sequence?: number;
  readonly addendumId?: string;
}

/** Follows the chain of one target link by link, keeping no more of it than its head. */
export class ChainCheck {
  private count = 0;
  private last: Buffer = NO_LINK;

  constructor(private readonly target: NativeReference) {}

  /** How many links were found intact. */
  get length(): number {
    return this.count;
  }

  /** The hash of the last link that was found intact. */
  get head(): Buffer {
    return this.last;
  }

  /** Takes the next link. @returns its fault, where the check ends */
  take(link: StoredLink): ChainBreak | undefined {
    const sequence = this.count + 1;
    const { addendumId } = link;
    if (link.sequence !== sequence) return { reason: 'missing-link', sequence };
    if (link.foundTextHash === null) return { reason: 'missing-addendum', sequence, addendumId };
    if (!link.foundTextHash.equals(link.textHash)) return { reason: 'changed-text', sequence, addendumId };
    if (!this.isNext(link)) return { reason: 'changed-link', sequence, addendumId };
    this.count = sequence;
    this.last = link.linkHash;
    return undefined;
  }

  /** Compares the links that were found with the head that the target has. */
  finish(said: ChainHead | undefined): ChainBreak | undefined {
    const { lastSequence, headHash } = said ?? { lastSequence: 0, headHash: NO_LINK };
    if (said === undefined && this.count > 0) return { reason: 'missing-head' };
    if (lastSequence > this.count) return { reason: 'missing-link', sequence: this.count + 1 };
    return headHash.equals(this.last) && lastSequence === this.count ? undefined : { reason: 'changed-head' };
  }

  /**
   * Whether a break is one of order: `elsewhere`, a link of the same chain, or its text belongs in the place of `found`.
   */
  isMisplaced(elsewhere: StoredLink, found: StoredLink | undefined): boolean {
    const sequence = this.count + 1;
    if (elsewhere.sequence === sequence) return false;
    return this.isNext({ ...elsewhere, sequence }) || found?.foundTextHash?.equals(elsewhere.textHash) === true;
  }

  private isNext(link: StoredLink): boolean {
    return linkHash(this.target, this.last, link).equals(link.linkHash);
  }
}
