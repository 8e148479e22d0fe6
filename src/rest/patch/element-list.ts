import { type JsonObject, type JsonValue } from '../../platform/json/lossless';
import { type PatchTree } from './patch-tree';
import { unfit } from './tree-patch';

/**
 * An element in FHIR JSON: `extra` holds id and extensions of a primitive (http://hl7.org/fhir/R4/json.html#primitive).
 */
export interface Element {
  readonly value: JsonValue | undefined;
  readonly extra: JsonValue | undefined;
}

/** A repeated element of `parent`: `given` and, at the same indexes, `_given`. */
export class ElementList {
  private readonly elements: Element[];

  constructor(
    private readonly tree: PatchTree,
    private readonly parent: JsonObject,
    private readonly key: string,
  ) {
    const [values, extras] = [listAt(parent, key), listAt(parent, `_${key}`)];
    this.elements = Array.from({ length: Math.max(values.length, extras.length) }, (_, index) => ({
      value: values[index] ?? undefined,
      extra: extras[index] ?? undefined,
    }));
  }

  get length(): number {
    return this.elements.length;
  }

  /** @throws ServiceError 'unprocessable' for an index above the length */
  insert(index: number, element: Element): void {
    if (index > this.length) throw this.noIndex(index);
    this.elements.splice(index, 0, element);
    this.store();
  }

  replace(index: number, element: Element): void {
    this.elements.splice(index, 1, element);
    this.store();
  }

  remove(index: number): void {
    this.elements.splice(index, 1);
    this.store();
  }

  /** Moves an element to its final index. @throws ServiceError 'unprocessable' for an index beyond the list */
  move(source: number, destination: number): void {
    for (const index of [source, destination]) if (index >= this.length) throw this.noIndex(index);
    this.elements.splice(destination, 0, ...this.elements.splice(source, 1));
    this.store();
  }

  private store(): void {
    for (const part of ['value', 'extra'] as const) {
      const column = this.elements.map((element) => element[part]);
      const isEmpty = column.every((value) => value === undefined);
      const key = part === 'value' ? this.key : `_${this.key}`;
      this.tree.set(this.parent, key, isEmpty ? undefined : column.map((value) => value ?? null));
    }
  }

  private noIndex(index: number): Error {
    return unfit(`"${this.key}" has ${this.length} elements: there is no place for index ${index}.`);
  }
}

function listAt(parent: JsonObject, key: string): readonly JsonValue[] {
  const list = parent.get(key) ?? [];
  if (!Array.isArray(list)) throw unfit(`"${key}" is no list.`);
  return list;
}
