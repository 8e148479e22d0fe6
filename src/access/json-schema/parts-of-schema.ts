import { isObject } from '../../platform/json/plain-object';
import { isRequestPart, REQUEST_PARTS, type RequestPart } from '../request/access-request';

/**
 * Returns the parts of a request that a schema can depend on: the properties that its outermost keywords name. If
 * another keyword may depend on any part, all parts are returned.
 */
export function partsOfSchema(schema: unknown): ReadonlySet<RequestPart> {
  const parts = new Set<RequestPart>();
  return notePartsOf(schema, parts) ? parts : new Set(REQUEST_PARTS);
}

/** Keywords whose result does not depend on single members of the request object. */
const SILENT = new Set(['$schema', '$id', '$comment', 'title', 'description', 'type', 'definitions']);

function notePartsOf(schema: unknown, parts: Set<RequestPart>): boolean {
  if (!isObject(schema)) return false;
  return Object.entries(schema).every(([keyword, value]) => {
    switch (keyword) {
      case 'properties':
        return isObject(value) && noteNames(Object.keys(value), parts);
      case 'required':
        return Array.isArray(value) && noteNames(value, parts);
      case 'allOf':
      case 'anyOf':
      case 'oneOf':
        return Array.isArray(value) && value.every((one) => notePartsOf(one, parts));
      case 'not':
      case 'if':
      case 'then':
      case 'else':
        return notePartsOf(value, parts);
      default:
        return SILENT.has(keyword);
    }
  });
}

function noteNames(names: readonly unknown[], parts: Set<RequestPart>): boolean {
  for (const name of names) if (typeof name === 'string' && isRequestPart(name)) parts.add(name);
  return true;
}
