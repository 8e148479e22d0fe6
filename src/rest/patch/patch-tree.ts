import { JsonNumber, type JsonObject, type JsonValue } from '../../platform/json/lossless';
import { type Steps } from '../../platform/time/steps';

type PlainObject = Record<string, unknown>;

/** Objects that are copied between two pauses. */
const OBJECTS_AT_ONCE = 512;

/**
 * A resource while it is patched: lossless values and, for each object, a plain copy with rounded numbers, on which
 * paths are evaluated. Both are changed together, so that no operation has to print and parse the resource.
 */
export class PatchTree {
  private readonly plainObjects = new WeakMap<JsonObject, PlainObject>();

  private constructor(readonly root: JsonObject) {}

  static *of(root: JsonObject): Steps<PatchTree> {
    const tree = new PatchTree(root);
    // The list has outer objects before inner ones, and is copied from its end. So inner objects are copied first, and
    // copying an object never goes deeper than this object.
    const objects = [root];
    for (const [index, object] of objects.entries()) {
      for (const member of object.values()) gatherObjects(member, objects);
      if (index % OBJECTS_AT_ONCE === 0) yield;
    }
    for (const [index, object] of objects.reverse().entries()) {
      tree.objectOf(object);
      if (index % OBJECTS_AT_ONCE === 0) yield;
    }
    return tree;
  }

  /** The plain copy of the whole resource. */
  get plain(): unknown {
    return this.objectOf(this.root);
  }

  /** Sets a member: it keeps its position, or is added at the end. Without a value, the member is removed. */
  set(object: JsonObject, key: string, value: JsonValue | undefined): void {
    const plain = this.objectOf(object);
    if (value === undefined) {
      object.delete(key);
      Reflect.deleteProperty(plain, key);
    } else {
      object.set(key, value);
      define(plain, key, this.plainOf(value));
    }
  }

  /** Removes elements of a list, and inserts others in their place. */
  splice(object: JsonObject, key: string, start: number, removed: number, ...added: readonly JsonValue[]): void {
    (object.get(key) as JsonValue[]).splice(start, removed, ...added);
    (this.objectOf(object)[key] as unknown[]).splice(start, removed, ...added.map((value) => this.plainOf(value)));
  }

  /** Renames a member, and the member of its extensions (`_name`). Both keep their positions. */
  rename(object: JsonObject, from: string, to: string): void {
    if (from === to) return;
    const entries = [...object];
    for (const [key] of entries) this.set(object, key, undefined);
    for (const [key, value] of entries)
      this.set(object, key === from ? to : key === `_${from}` ? `_${to}` : key, value);
  }

  private plainOf(value: JsonValue): unknown {
    if (value instanceof JsonNumber) return Number(value.text);
    if (Array.isArray(value)) return value.map((item) => this.plainOf(item));
    return value instanceof Map ? this.objectOf(value) : value;
  }

  private objectOf(object: JsonObject): PlainObject {
    const known = this.plainObjects.get(object);
    if (known !== undefined) return known;
    const plain: PlainObject = {};
    for (const [key, member] of object) define(plain, key, this.plainOf(member));
    this.plainObjects.set(object, plain);
    return plain;
  }
}

function gatherObjects(value: JsonValue, objects: JsonObject[]): void {
  if (value instanceof Map) objects.push(value);
  else if (Array.isArray(value)) for (const item of value) gatherObjects(item, objects);
}

/**
 * Sets a member of a plain copy. A patch of a type of this server may name any member: `__proto__` becomes a member of
 * the object, as with `JSON.parse`.
 */
function define(plain: PlainObject, key: string, value: unknown): void {
  if (key !== '__proto__') plain[key] = value;
  else Object.defineProperty(plain, key, { value, enumerable: true, configurable: true, writable: true });
}
