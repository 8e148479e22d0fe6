import { createHash } from 'node:crypto';
import { type NativeReference } from '../../fhir/types';

/** The content that a link in the chain of a target proves. */
export interface Link {
  /** 1, 2, 3 … within the target. */
  readonly sequence: number;
  readonly addendumId: string;
  /** SHA-256 of the text of the addendum in UTF-8, as stored and returned. */
  readonly textHash: Buffer;
  /** For a History with a snapshot: later snapshots are compared with it. */
  readonly snapshotDigest: Buffer | null;
}

/** The previous hash of the first link of a chain. */
export const NO_LINK = Buffer.alloc(32);

/**
 * SHA-256 over a link and the previous hash, byte by byte as in docs/explanation/evidence.md: seven lines of ASCII,
 * each with a line feed. `APPEND_ENTRY` computes the same in SQL.
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
