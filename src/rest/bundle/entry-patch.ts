import { decodeUtf8 } from '../../platform/json/decode-utf8';
import { textOfMembers } from '../../platform/json/json-members';
import { type Slices } from '../../platform/time/slices';
import { PATCH_TYPES, compileResourcePatch } from '../patch/resource-patch';
import { type ResourcePatch } from '../../resource/writes/write';
import { type BundleEntry } from './bundle';
import { binaryContent } from './entry-text';
import { faultAt } from './entry-error';

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
    return compileResourcePatch('fhirpath-patch', textOfMembers(resource.members), maxBytes, slices);
  }
  if (resource?.type !== 'Binary') {
    throw faultAt('resource', 'A patch is a Binary with a JSON Patch, or Parameters.');
  }
  const { mediaType, body } = binaryContent(resource);
  const kind = PATCH_TYPES.get(mediaType);
  if (kind === undefined) {
    throw faultAt('resource.contentType', `The patch must be of type ${[...PATCH_TYPES.keys()].join(' or ')}.`);
  }
  return compileResourcePatch(kind, decodeUtf8(body), maxBytes, slices);
}
