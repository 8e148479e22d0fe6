import { decodeUtf8 } from '../../platform/json/decode-utf8';
import { type Slices } from '../../platform/time/slices';
import { type PatchKind, compileResourcePatch } from '../patch/resource-patch';
import { type ResourcePatch } from '../../resource/writes/write';
import { type BundleEntry } from './bundle';
import { binaryContent, resourceTextOf } from './entry-text';
import { faultAt } from './entry-error';

const KINDS: Readonly<Record<string, PatchKind>> = {
  'application/json-patch+json': 'json-patch',
  'application/merge-patch+json': 'merge-patch',
};

/**
 * Reads the patch of an entry, which is a Binary with a JSON Patch, or a Parameters
 * (http://hl7.org/fhir/R4/http.html#patch).
 * @param maxBytes maximum size of the patched resource
 * @throws ServiceError 'invalid' for any other resource
 */
export async function entryPatchOf(
  { resource }: BundleEntry,
  maxBytes: number,
  slices: Slices,
): Promise<ResourcePatch> {
  if (resource?.type === 'Parameters') {
    return compileResourcePatch('fhirpath-patch', resourceTextOf(resource), maxBytes, slices);
  }
  if (resource?.type !== 'Binary') {
    throw faultAt('resource', 'A patch is a Binary with a JSON Patch, or Parameters.');
  }
  const { mediaType, body } = binaryContent(resource);
  const kind = KINDS[mediaType];
  if (kind === undefined) {
    throw faultAt('resource.contentType', `The patch must be of type ${Object.keys(KINDS).join(' or ')}.`);
  }
  return compileResourcePatch(kind, decodeUtf8(body), maxBytes, slices);
}
