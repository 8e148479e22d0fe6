import { type Request } from 'express';
import { xmlHint } from '../../fhir/edge/format';
import { parameterInvalid } from '../../platform/errors/parameter-invalid';
import { ServiceError } from '../../platform/errors/service-error';
import { bodyOf, mediaTypeOf, queryOf } from '../../platform/http/raw-request';
import { decodeUtf8 } from '../../platform/json/decode-utf8';
import { type Slices } from '../../platform/time/slices';
import { PATCH_TYPES, type PatchKind, compileResourcePatch } from '../patch/resource-patch';
import { type ResourcePatch } from '../../resource/writes/write';

/** The media types of patches of any kind. */
const JSON_TYPES = ['application/fhir+json', 'application/json+fhir', 'application/json'];

const KINDS: readonly PatchKind[] = ['json-patch', 'merge-patch', 'fhirpath-patch'];

/**
 * Reads the patch of a request. `_method` names its kind, else the media type does, else its content.
 * @param maxBytes maximum size of the patched resource
 * @throws ServiceError 'unsupported-media-type', or 'invalid' for a malformed patch; JsonBodyError for hostile or
 *   broken text
 */
export async function patchOf(request: Request, maxBytes: number, slices: Slices): Promise<ResourcePatch> {
  const sent = mediaTypeOf(request);
  const named = sent === undefined ? undefined : PATCH_TYPES.get(sent);
  if (named === undefined && sent !== undefined && !JSON_TYPES.includes(sent)) {
    const acceptPatch = [...PATCH_TYPES.keys(), ...JSON_TYPES];
    const message = `Send a patch as ${acceptPatch.join(', ')}.${xmlHint(sent)}`;
    throw new ServiceError('unsupported-media-type', message, { acceptPatch });
  }
  const body = bodyOf(request);
  if (body.length === 0) throw new ServiceError('body-missing', 'The body is empty; send a patch.');
  return compileResourcePatch(methodOf(request) ?? named, decodeUtf8(body), maxBytes, slices);
}

function methodOf(request: Request): PatchKind | undefined {
  const method = queryOf(request).get('_method');
  if (method === null) return undefined;
  const kind = KINDS.find((known) => known === method);
  if (kind === undefined) throw parameterInvalid(`_method takes one of ${KINDS.join(', ')}.`);
  return kind;
}
