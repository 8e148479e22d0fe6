import { type JsonObject, type JsonValue } from '../../platform/json/lossless';
import { type PatchTree } from './patch-tree';
import { unfit } from './tree-patch';

/**
 * An element in FHIR JSON. `extra` holds the id and the extensions of a primitive
 * (http://hl7.org/fhir/R4/json.html#primitive).
 */
export interface Element {
  readonly value: JsonValue | undefined;
  readonly extra: JsonValue | undefined;
}

/** A change of a list: takes the element at an index away, or puts an element there. */
interface Edit {
  readonly index: number;
  readonly removed: 0 | 1;
  readonly element?: Element;
}

/**
 * The list of a repeated element: values in `given`, ids and extensions in `_given` at the same indexes. Both are
 * changed in place, since copying a long list for each of hundreds of operations would take too long.
 */
export class ElementList {
  readonly length: number;

  constructor(
    private readonly tree: PatchTree,
    private readonly parent: JsonObject,
    private readonly key: string,
  ) {
    this.length = Math.max(...this.keys.map((name) => this.listAt(name).length));
  }

  /** @throws ServiceError 'unprocessable' for an index above the length */
  insert(index: number, element: Element): void {
    if (index > this.length) throw this.noIndex(index);
    this.change([{ index, removed: 0, element }]);
  }

  replace(index: number, element: Element): void {
    this.change([{ index, removed: 1, element }]);
  }

  remove(index: number): void {
    this.change([{ index, removed: 1 }]);
  }

  /**
   * Moves an element; `destination` is its index afterwards.
   * @throws ServiceError 'unprocessable' for an index beyond the list
   */
  move(source: number, destination: number): void {
    for (const index of [source, destination]) if (index >= this.length) throw this.noIndex(index);
    const [value, extra] = this.keys.map((name) => this.listAt(name)[source] ?? undefined);
    this.change([
      { index: source, removed: 1 },
      { index: destination, removed: 0, element: { value, extra } },
    ]);
  }

  private get keys(): readonly [string, string] {
    return [this.key, `_${this.key}`];
  }

  private change(edits: readonly Edit[]): void {
    for (const key of this.keys) {
      const added = edits.map(({ element }) => (key === this.key ? element?.value : element?.extra));
      const list = this.listAt(key);
      if (list.length === 0 && added.every((value) => value === undefined)) continue;
      if (list.length < this.length || list.length === 0) {
        const filled = Array.from({ length: this.length }, (_, index) => list[index] ?? null);
        this.tree.set(this.parent, key, filled);
      }
      for (const [position, { index, removed, element }] of edits.entries())
        this.tree.splice(this.parent, key, index, removed, ...(element === undefined ? [] : [added[position] ?? null]));
      if (this.listAt(key).every((value) => value === null)) this.tree.set(this.parent, key, undefined);
    }
  }

  private listAt(key: string): readonly JsonValue[] {
    const list = this.parent.get(key) ?? [];
    if (!Array.isArray(list)) throw unfit(`"${key}" is no list.`);
    return list;
  }

  private noIndex(index: number): Error {
    return unfit(`"${this.key}" has ${this.length} elements: there is no place for index ${index}.`);
  }
}
