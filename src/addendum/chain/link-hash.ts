import { createHash } from 'node:crypto';
import { type NativeReference } from '../../fhir/types';

/** The content that a link in the chain of a target proves. */
export interface Link {
  /** 1, 2, 3 … within the target. */
  readonly sequence: number;
  readonly addendumId: string;
  /** SHA-256 of the text of the addendum, UTF-8, as it is stored and answered. */
  readonly textHash: Buffer;
  /** Of a History with a snapshot: the snapshot is compared by it. */
  readonly snapshotDigest: Buffer | null;
}

/** The hash that the first link of a chain follows. */
export const NO_LINK = Buffer.alloc(32);

/**
 * SHA-256 over a link and the hash of the one before it, byte by byte as in docs/addenda.md, "Evidence": seven lines
 * of ASCII, each with its line feed. `APPEND_ENTRY` makes the same in SQL.
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
