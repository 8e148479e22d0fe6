import { isObject } from '../../platform/json/plain-object';
import { isRequestPart, REQUEST_PARTS, type RequestPart } from '../request/access-request';

/** The parts of a request that a schema can depend on: those that its outermost keywords name, else all. */
export function partsOfSchema(schema: unknown): ReadonlySet<RequestPart> {
  const parts = new Set<RequestPart>();
  return notePartsOf(schema, parts) ? parts : new Set(REQUEST_PARTS);
}

/** Keywords that say nothing about which members exist. */
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
