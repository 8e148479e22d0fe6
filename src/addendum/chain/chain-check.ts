import { type NativeReference } from '../../fhir/types';
import { type Link, linkHash, NO_LINK } from './link-hash';

/** A stored link, with the hash of the text that its addendum has in the database now. */
export interface StoredLink extends Link {
  readonly linkHash: Buffer;
  /** SHA-256 of the text that is stored now; null when the addendum is missing. */
  readonly foundTextHash: Buffer | null;
  /** The target in the stored text; null when the text is missing or is not the recorded one. */
  readonly foundTarget: unknown;
  /** Whether the stored version is the first, and there is no earlier one; null when the addendum is missing. */
  readonly isOnlyVersion: boolean | null;
}

/** A link and the head of its chain. Without a link its columns are null; without a target those of the head too. */
export interface LinkRow extends Omit<StoredLink, 'sequence'> {
  readonly sequence: number | null;
  readonly lastSequence: number | null;
  readonly headHash: Buffer | null;
}

export const hasLink = (row: LinkRow): row is LinkRow & StoredLink => row.sequence !== null;

/** The recorded length and last hash of a chain, from the row of its target. */
export interface ChainHead {
  readonly lastSequence: number;
  readonly headHash: Buffer;
}

export const headIn = ({ lastSequence, headHash }: LinkRow): ChainHead | undefined =>
  lastSequence === null || headHash === null ? undefined : { lastSequence, headHash };

export const BREAKS = {
  'changed-text': 'The text of the addendum is not the one that was recorded.',
  'missing-addendum': 'The addendum of this link is gone.',
  'missing-link': 'The link with this number is gone.',
  'changed-link':
    'The link does not follow from the one before it: the row of the link, or of one before it, was changed.',
  'other-target': 'The addendum of this link names another target.',
  'other-version': 'Another version of the addendum is stored; an addendum has one version only.',
  order: 'The link or text at this position belongs to another position of the chain.',
  'changed-head': 'The end of the chain is not where its target says it is.',
  'missing-head': 'The head of the chain is missing from its target.',
  'no-link': 'The addendum names the target, but no link of the chain covers it.',
} as const;

export interface ChainBreak {
  readonly reason: keyof typeof BREAKS;
  /** The position in the chain; absent for an addendum without a link. */
  readonly sequence?: number;
  readonly addendumId?: string;
}

/** Whether the stored addendum of a link names another target than this. */
export function isOfOther({ resourceType, id }: NativeReference, { foundTarget }: StoredLink): boolean {
  const named = foundTarget as Partial<NativeReference> | null;
  return named?.resourceType !== resourceType || named.id !== id;
}

/** Checks the chain of one target link by link. Only the count and the last hash stay in memory. */
export class ChainCheck {
  /** The number of links that were intact so far. */
  length = 0;
  /** The hash of the last intact link. */
  head: Buffer = NO_LINK;

  constructor(readonly target: NativeReference) {}

  /** Checks the next link. @returns the fault of the link, after which the check ends; undefined for an intact link */
  take(link: StoredLink): ChainBreak | undefined {
    const sequence = this.length + 1;
    const { addendumId } = link;
    if (link.sequence !== sequence) return { reason: 'missing-link', sequence };
    if (link.foundTextHash === null) return { reason: 'missing-addendum', sequence, addendumId };
    if (!link.foundTextHash.equals(link.textHash)) return { reason: 'changed-text', sequence, addendumId };
    if (!this.isNext(link)) return { reason: 'changed-link', sequence, addendumId };
    if (isOfOther(this.target, link)) return { reason: 'other-target', sequence, addendumId };
    if (link.isOnlyVersion !== true) return { reason: 'other-version', sequence, addendumId };
    this.length = sequence;
    this.head = link.linkHash;
    return undefined;
  }

  /** Compares the count and the last hash of the intact links with the head that is stored for the target. */
  finish(said: ChainHead | undefined): ChainBreak | undefined {
    const { lastSequence, headHash } = said ?? { lastSequence: 0, headHash: NO_LINK };
    if (said === undefined && this.length > 0) return { reason: 'missing-head' };
    if (lastSequence > this.length) return { reason: 'missing-link', sequence: this.length + 1 };
    return headHash.equals(this.head) && lastSequence === this.length ? undefined : { reason: 'changed-head' };
  }

  /**
   * Whether a fault at the current position is only a wrong order: the link `elsewhere` of the same chain belongs here,
   * or the link `found` here has the text of the addendum of `elsewhere`.
   */
  isMisplaced(elsewhere: StoredLink, found: StoredLink | undefined): boolean {
    const sequence = this.length + 1;
    if (elsewhere.sequence === sequence) return false;
    return this.isNext({ ...elsewhere, sequence }) || found?.foundTextHash?.equals(elsewhere.textHash) === true;
  }

  private isNext(link: StoredLink): boolean {
    return linkHash(this.target, this.head, link).equals(link.linkHash);
  }
}
