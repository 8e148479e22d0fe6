import { createHash } from 'node:crypto';
import { withoutMembers } from '../platform/json/json-members';
import { canonicalText, parseLossless } from '../platform/json/lossless';

/**
 * SHA-256 of what snapshots are compared by: the whole body without `meta`, keys in any order, numbers as written.
 * Equal digests mean equal bodies, so the earlier snapshot need not be read.
 */
export const snapshotDigestOf = (resourceText: string): Buffer =>
  createHash('sha256')
    .update(canonicalText(parseLossless(withoutMembers(resourceText, ['meta']))))
    .digest();
