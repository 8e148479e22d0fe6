import { createHash } from 'node:crypto';
import { type NativeReference } from '../../fhir/types';

/** A link in the chain of a target. */
export interface Link {
  /** The position of the link in its chain: 1, 2, 3 … */
  readonly sequence: number;
  readonly addendumId: string;
  /** SHA-256 of the text of the addendum in UTF-8, as stored and returned. */
  readonly textHash: Buffer;
  /** Digest of the snapshot in a History, with which later snapshots are compared; null without a snapshot. */
  readonly snapshotDigest: Buffer | null;
}

/** The previous hash of the first link. */
export const NO_LINK = Buffer.alloc(32);

/**
 * Computes the hash of a link: SHA-256 over the link and the previous hash. The hashed bytes are described in
 * docs/explanation/evidence.md: seven lines of ASCII, each ending with a line feed. `APPEND_ENTRY` computes the same in
 * SQL.
 */
export function linkHash(target: NativeReference, previous: Buffer, link: Link): Buffer {
  const lines = [
    'svc-addendum-link-1',
    previous.toString('hex'),
    String(link.sequence),
    `${target.resourceType}/${target.id}`,
    link.addendumId,
    link.textHash.toString('hex'),
    link.snapshotDigest?.toString('hex') ?? '-',
  ];
  return createHash('sha256')
    .update(lines.map((line) => `${line}\n`).join(''))
    .digest();
}
