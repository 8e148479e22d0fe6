import { decodeUtf8 } from '../../platform/json/decode-utf8';
import { textOfMembers } from '../../platform/json/json-members';
import { type Slices } from '../../platform/time/slices';
import { type ResourcePatch } from '../../resource/writes/write';
import { PATCH_TYPES, compileResourcePatch } from '../patch/resource-patch';
import { type EntryResource } from './bundle';
import { faultAt } from './entry-faults';

const FHIR_JSON = 'application/fhir+json';

/**
 * The body that an entry would have if it were sent alone. A patch is sent in a Binary, or is a Parameters
 * (http://hl7.org/fhir/R4/http.html#jsonpatch). A GET or DELETE has no body, so policies do not see its resource.
 */
export function entryBodyOf(
  method: string,
  resource: EntryResource | undefined,
): { readonly mediaType?: string; readonly body?: Buffer } {
  if (resource === undefined || method === 'GET' || method === 'DELETE') return {};
  if (method === 'PATCH' && resource.type === 'Binary') return binaryContent(resource);
  return { mediaType: FHIR_JSON, body: Buffer.from(textOfMembers(resource.members)) };
}

/**
 * The content of a Binary, which may hold a patch (http://hl7.org/fhir/R4/http.html#jsonpatch).
 * @throws ServiceError 'invalid' without content
 */
function binaryContent({ members }: EntryResource): { readonly mediaType: string; readonly body: Buffer } {
  const valueOf = (name: string): unknown => {
    const text = members.find(({ key }) => key === name)?.valueText;
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  };
  const [contentType, data] = [valueOf('contentType'), valueOf('data')];
  if (typeof contentType !== 'string' || typeof data !== 'string')
    throw faultAt('resource', 'A patch in a Binary needs contentType and data.');
  return { mediaType: contentType.split(';')[0]?.trim().toLowerCase() ?? '', body: Buffer.from(data, 'base64') };
}

/**
 * Reads the patch of an entry (http://hl7.org/fhir/R4/http.html#patch). It is a Binary with a JSON Patch or a merge
 * patch, or a Parameters with a FHIRPath patch.
 * @param maxBytes maximum size of the patched resource
 * @throws ServiceError 'invalid' for any other resource
 */
export async function entryPatchOf(
  resource: EntryResource | undefined,
  maxBytes: number,
  slices: Slices,
): Promise<ResourcePatch> {
  if (resource?.type === 'Parameters')
    return compileResourcePatch('fhirpath-patch', textOfMembers(resource.members), maxBytes, slices);
  if (resource?.type !== 'Binary') throw faultAt('resource', 'A patch is a Binary with a JSON Patch, or Parameters.');
  const { mediaType, body } = binaryContent(resource);
  const kind = PATCH_TYPES.get(mediaType);
  if (kind === undefined)
    throw faultAt('resource.contentType', `The patch must be of type ${[...PATCH_TYPES.keys()].join(' or ')}.`);
  return compileResourcePatch(kind, decodeUtf8(body), maxBytes, slices);
}
