import { ServiceError } from '../../platform/errors/service-error';
import { JsonBodyError } from '../../platform/json/json-body-error';
import { type JsonValue, parseLossless, printLossless } from '../../platform/json/lossless';
import { type ScannedJson, readJson } from '../../platform/json/read-json';
import { type ResourcePatch } from '../resource-writer';
import { compileFhirPathPatch } from './fhirpath-patch';
import { compileJsonPatch } from './json-patch';
import { compileMergePatch } from './merge-patch';
import { type TreePatch, unfit } from './tree-patch';

export type PatchKind = 'json-patch' | 'merge-patch' | 'fhirpath-patch';

const COMPILERS: Readonly<Record<PatchKind, (patch: JsonValue) => TreePatch>> = {
  'json-patch': compileJsonPatch,
  'merge-patch': compileMergePatch,
  'fhirpath-patch': compileFhirPathPatch,
};

/** What a patch of no named kind is: `Parameters` are FHIRPath operations, an array JSON Patch, anything else is merged. */
export function guessedKind(patch: JsonValue): PatchKind {
  if (Array.isArray(patch)) return 'json-patch';
  return patch instanceof Map && patch.get('resourceType') === 'Parameters' ? 'fhirpath-patch' : 'merge-patch';
}

/**
 * Compiles a patch of a resource. It works on the text, so numbers keep their digits where they are patched and where not.
 * @param maxBytes the largest result, in UTF-8; what is larger already may stay as large
 * @throws ServiceError 'invalid' for a malformed patch; the patch itself throws 'unprocessable' where it does not fit.
 */
export function compileResourcePatch(kind: PatchKind, patch: JsonValue, maxBytes: number): ResourcePatch {
  const apply = COMPILERS[kind](patch);
  return (storedText) => {
    const stored = parseLossless(storedText);
    const [type, id] = [identityOf(stored, 'resourceType'), identityOf(stored, 'id')];
    const result = apply(stored);
    for (const [name, value] of [
      ['resourceType', type],
      ['id', id],
    ] as const) {
      if (identityOf(result, name) !== value) {
        throw new ServiceError('unprocessable', `A patch cannot change ${name}.`, { expression: name });
      }
    }
    return bodyOf(printLossless(result), Math.max(maxBytes, Buffer.byteLength(storedText)));
  };
}

function identityOf(resource: JsonValue, name: 'resourceType' | 'id'): JsonValue | undefined {
  if (!(resource instanceof Map)) throw unfit('The patched resource is no JSON object.');
  return resource.get(name);
}

/** The result passes the same scan as a body that is sent. */
function bodyOf(text: string, maxBytes: number): ScannedJson {
  if (Buffer.byteLength(text) > maxBytes) throw unfit(`The patched resource would be larger than ${maxBytes} bytes.`);
  try {
    return readJson(text);
  } catch (error) {
    if (!(error instanceof JsonBodyError)) throw error;
    throw new ServiceError('unprocessable', `The patched resource is refused. ${error.message}`, {}, { cause: error });
  }
}
