import { ServiceError } from '../../platform/errors/service-error';
import { TooCostly } from '../../platform/errors/too-costly';
import { JsonBodyError } from '../../platform/json/json-body-error';
import {
  type JsonValue,
  parseLosslessInSteps,
  parseStoredInSteps,
  printLosslessInSteps,
} from '../../platform/json/lossless';
import { type ScannedJson, readJsonInSteps } from '../../platform/json/read-json';
import { LONGEST_STEP_MILLISECONDS, type Slices } from '../../platform/time/slices';
import { type Steps } from '../../platform/time/steps';
import { type ResourcePatch } from '../../resource/writes/write';
import { compileFhirPathPatch } from './fhirpath-patch';
import { compileJsonPatch } from './json-patch';
import { compileMergePatch } from './merge-patch';
import { type TreePatch, unfit } from './tree-patch';

export type PatchKind = 'json-patch' | 'merge-patch' | 'fhirpath-patch';

/** The media types that name the kind of a patch. */
export const PATCH_TYPES: ReadonlyMap<string, PatchKind> = new Map([
  ['application/json-patch+json', 'json-patch'],
  ['application/merge-patch+json', 'merge-patch'],
]);

/**
 * Maximum CPU time to compile and apply a patch. The row of the resource is locked during this time. Patches that
 * people write take much less.
 */
const MAX_MILLISECONDS = 1_000;

/**
 * Compiles a patch of a resource. It works on the text of the resource, so all numbers keep their digits.
 * @param kind undefined if the content decides: `Parameters` are FHIRPath operations, an array is a JSON Patch,
 *   anything else is a merge patch
 * @param maxBytes the largest result, in UTF-8; a resource that is already larger may keep its size
 * @throws ServiceError 'invalid' for a malformed patch; the patch itself throws 'unprocessable' if it does not apply
 */
export async function compileResourcePatch(
  kind: PatchKind | undefined,
  patchText: string,
  maxBytes: number,
  slices: Slices,
): Promise<ResourcePatch> {
  const patch = await slices.run(parseLosslessInSteps(patchText));
  const apply = await inTime(() => compiled(kind ?? guessedKind(patch), patch), slices);
  return async (storedText) => {
    const [stored, result] = await inTime(() => patched(storedText, apply), slices);
    for (const name of ['resourceType', 'id'] as const) {
      if (identityOf(result, name) !== identityOf(stored, name))
        throw new ServiceError('patch-not-applicable', `A patch cannot change ${name}.`, { expression: name });
    }
    return slices.run(bodyOf(result, Math.max(maxBytes, Buffer.byteLength(storedText))));
  };
}

function* compiled(kind: PatchKind, patch: JsonValue): Steps<TreePatch> {
  if (kind === 'fhirpath-patch') return yield* compileFhirPathPatch(patch);
  return kind === 'json-patch' ? yield* compileJsonPatch(patch) : compileMergePatch(patch);
}

/**
 * Applies a patch to a stored text.
 * @returns the identity of the stored resource, and the patched resource
 */
function* patched(storedText: string, apply: TreePatch): Steps<readonly [JsonValue, JsonValue]> {
  const stored = yield* parseStoredInSteps(storedText);
  const before = stored instanceof Map ? new Map(stored) : stored;
  return [before, yield* apply(stored)];
}

/** @throws ServiceError 'unprocessable' when the time limit is exceeded */
async function inTime<T>(begin: () => Steps<T>, slices: Slices): Promise<T> {
  try {
    return await slices.runLimited(begin, { ofOne: LONGEST_STEP_MILLISECONDS, ofAll: MAX_MILLISECONDS });
  } catch (error) {
    if (!(error instanceof TooCostly)) throw error;
    throw unfit('The patch takes too long: use simpler paths, or fewer operations.');
  }
}

function guessedKind(patch: JsonValue): PatchKind {
  if (Array.isArray(patch)) return 'json-patch';
  return patch instanceof Map && patch.get('resourceType') === 'Parameters' ? 'fhirpath-patch' : 'merge-patch';
}

function identityOf(resource: JsonValue, name: 'resourceType' | 'id'): JsonValue | undefined {
  if (!(resource instanceof Map)) throw unfit('The patched resource is no JSON object.');
  return resource.get(name);
}

/** The patched resource as a body. It passes the same scan as a body that is sent. */
function* bodyOf(result: JsonValue, maxBytes: number): Steps<ScannedJson> {
  const text = yield* printLosslessInSteps(result);
  if (Buffer.byteLength(text) > maxBytes) throw unfit(`The patched resource would be larger than ${maxBytes} bytes.`);
  yield;
  try {
    return yield* readJsonInSteps(text);
  } catch (error) {
    if (!(error instanceof JsonBodyError)) throw error;
    const message = `The patched resource is refused. ${error.message}`;
    throw new ServiceError('patch-not-applicable', message, {}, { cause: error });
  }
}
