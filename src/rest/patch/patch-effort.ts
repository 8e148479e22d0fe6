import { JsonNumber, type JsonValue } from '../../platform/json/lossless';
import { unfit } from './tree-patch';

/** Characters and values that one patch may touch. A patch of 1 kB that copies what it copied would else fill the memory. */
const MAX_EFFORT = 16 * 1024 * 1024;
/** What a value costs beside its characters. */
const VALUE_EFFORT = 8;
/** As deep as a body may be (`compactJson`). */
const MAX_DEPTH = 64;

/** Counts what a patch does and stops it when it does too much. */
export class PatchEffort {
  private left = MAX_EFFORT;

  /** @throws ServiceError 'unprocessable' when the patch has done too much. */
  spend(effort: number): void {
    this.left -= effort;
    if (this.left < 0) throw unfit('The patch does too much at once: split it, or replace the resource with PUT.');
  }

  /**
   * Copies a value that will stand below `depth` containers.
   * @throws ServiceError 'unprocessable' when it would be deeper than a body may be.
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
}
