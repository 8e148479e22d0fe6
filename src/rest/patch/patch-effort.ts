import { JsonNumber, type JsonValue } from '../../platform/json/lossless';
import { unfit } from './tree-patch';

/**
 * Maximum effort of one patch, in characters and values. Without this bound, a patch of 1 kB that repeatedly copies its
 * own copies would exhaust the memory.
 */
const MAX_EFFORT = 16 * 1024 * 1024;
/** Effort of a value, in addition to its characters. */
const VALUE_EFFORT = 8;
/** Maximum number of levels of a patched resource; `compactJson` allows bodies the same depth. */
const MAX_DEPTH = 64;

/** Counts the effort of a patch, and stops the patch at the bound. */
export class PatchEffort {
  private left = MAX_EFFORT;

  /**
   * Copies a value to a position below `depth` containers.
   * @throws ServiceError 'unprocessable' when the bound is exceeded, or if the result would be deeper than a body may
   *   be
   */
  copy(value: JsonValue, depth: number): JsonValue {
    this.spend(VALUE_EFFORT + (typeof value === 'string' ? value.length : 0));
    if (typeof value !== 'object' || value === null || value instanceof JsonNumber) return value;
    if (depth >= MAX_DEPTH) throw unfit(`The patched resource would be deeper than ${MAX_DEPTH} levels.`);
    if (Array.isArray(value)) return value.map((element) => this.copy(element, depth + 1));
    const copy = new Map<string, JsonValue>();
    for (const [key, member] of value) {
      this.spend(key.length);
      copy.set(key, this.copy(member, depth + 1));
    }
    return copy;
  }

  private spend(effort: number): void {
    this.left -= effort;
    if (this.left < 0) throw unfit('The patch does too much at once: split it, or replace the resource with PUT.');
  }
}
