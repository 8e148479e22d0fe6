import { type JsonObject, type JsonValue } from '../../platform/json/lossless';
import { type Steps } from '../../platform/time/steps';
import { type TreePatch } from './tree-patch';

/**
 * Compiles a merge patch (RFC 7396): a member replaces the member of its name, `null` removes it, and an array is
 * replaced as a whole.
 */
export function compileMergePatch(patch: JsonValue): TreePatch {
  return function* (tree): Steps<JsonValue> {
    yield;
    return merged(tree, patch);
  };
}

/** Merges a patch into a value. It recurses as deep as the patch, whose depth the scan of bodies bounds. */
function merged(target: JsonValue | undefined, patch: JsonValue): JsonValue {
  if (!(patch instanceof Map)) return patch;
  const result: JsonObject = target instanceof Map ? target : new Map<string, JsonValue>();
  for (const [key, value] of patch) {
    if (value === null) result.delete(key);
    else result.set(key, merged(result.get(key), value));
  }
  return result;
}
