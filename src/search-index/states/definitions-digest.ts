import { createHash } from 'node:crypto';
import { readAsset } from '../../platform/assets';
import { ROWS_VERSIONS } from '../extract/rows-version';
import { type OwnSearchParameter } from '../extract/search-parameter';

/** Of all that the parameters of this build are made from: while it stays, a start need not compile and compare them. */
export function definitionsDigest(own: readonly OwnSearchParameter[], ownTypes: readonly string[]): string {
  const hash = createHash('sha256').update(JSON.stringify([ROWS_VERSIONS, own, ownTypes]));
  for (const file of ['search-parameters', 'elements']) hash.update(readAsset(`fhir/definitions/${file}.json`));
  return hash.digest('hex');
}
