import { objectText } from '../platform/json/json-members';
import { type JsonObject, type JsonValue, JsonNumber, parseLossless, printLossless } from '../platform/json/lossless';

/** What a value is when it is no string; `old` or `new` is its JSON text then. */
export type DiffKind = 'number' | 'boolean' | 'null' | 'object' | 'array';

/** One changed leaf of a snapshot, as an Amendment stores it (interface, 'Diff object'). */
export interface DiffEntry {
  readonly type: 'remove' | 'replace' | 'add';
  /** Keys, and array indexes in decimal. */
  readonly path: readonly string[];
  readonly old?: string;
  readonly 'old-kind'?: DiffKind;
  readonly new?: string;
  readonly 'new-kind'?: DiffKind;
}

/**
 * Compares two snapshots, texts of JSON objects, without their `meta`: one entry per leaf that is not the same in both.
 * A leaf is a string, a number as written, a boolean, null, or an empty object or array. Objects are compared by key in
 * any order, arrays by index. Entries stand in the order of the old snapshot, what an object gains after what it had.
 *
 * Leaves alone do not always say what holds them, so a reader applies the entries in order, and
 * 1. makes a missing container with its first leaf: an array when the step into it is `0`, else an object;
 * 2. drops, at the end, a container that lost all its leaves.
 * Where rule 1 would go wrong (an object whose first key is `0`) and where an object takes the place of an array or an
 * array that of an object, an entry that adds the empty container stands before its leaves.
 * @throws JsonBodyError for a text that is no acceptable JSON, TypeError when it is no object.
 */
export function diffSnapshots(oldText: string, newText: string): DiffEntry[] {
  return changesWithin([], snapshotOf(oldText), snapshotOf(newText));
}

/**
 * Makes the newer snapshot, without `meta`, of the older one and their diff.
 * @throws Error when the diff was made from another snapshot.
 */
export function applyDiff(oldText: string, diff: readonly DiffEntry[]): string {
  const root = branchOf(snapshotOf(oldText));
  for (const entry of diff) applyEntry(root, entry.path, entry);
  return textOf(root) ?? '{}';
}

function snapshotOf(text: string): JsonObject {
  const snapshot = parseLossless(text);
  if (!(snapshot instanceof Map)) throw new TypeError('A snapshot is a JSON object');
  snapshot.delete('meta');
  return snapshot;
}

type Path = readonly string[];
type Container = JsonObject | JsonValue[];

function changes(path: Path, before: JsonValue | undefined, after: JsonValue | undefined): DiffEntry[] {
  if (isBranch(before) && isBranch(after)) {
    if (kindOf(before) === kindOf(after)) return changesWithin(path, before, after);
    return [...removals(path, before), announcement(path, after), ...additionsWithin(path, after)];
  }
  if (before === undefined || after === undefined || isBranch(before) || isBranch(after)) {
    return [...removals(path, before), ...additions(path, after)];
  }
  if (before === after || printLossless(before) === printLossless(after)) return [];
  return [{ type: 'replace', path, ...oldSide(before), ...newSide(after) }];
}

function changesWithin(path: Path, before: Container, after: Container): DiffEntry[] {
  const [had, has] = [childrenOf(before), childrenOf(after)];
  return [...new Set([...had.keys(), ...has.keys()])].flatMap((key) =>
    changes([...path, key], had.get(key), has.get(key)),
  );
}

function removals(path: Path, value: JsonValue | undefined): DiffEntry[] {
  if (value === undefined) return [];
  if (!isBranch(value)) return [{ type: 'remove', path, ...oldSide(value) }];
  return [...childrenOf(value)].flatMap(([key, child]) => removals([...path, key], child));
}

function additions(path: Path, value: JsonValue | undefined): DiffEntry[] {
  if (value === undefined) return [];
  if (!isBranch(value)) return [{ type: 'add', path, ...newSide(value) }];
  const looksLikeArray = value instanceof Map && value.keys().next().value === '0';
  return [...(looksLikeArray ? [announcement(path, value)] : []), ...additionsWithin(path, value)];
}

function additionsWithin(path: Path, value: Container): DiffEntry[] {
  return [...childrenOf(value)].flatMap(([key, child]) => additions([...path, key], child));
}

function announcement(path: Path, value: Container): DiffEntry {
  return { type: 'add', path, ...newSide(Array.isArray(value) ? [] : new Map()) };
}

/** Whether a value is an object or array that has children; anything else is a leaf. */
function isBranch(value: JsonValue | undefined): value is Container {
  return Array.isArray(value) ? value.length > 0 : value instanceof Map && value.size > 0;
}

function childrenOf(container: Container): JsonObject {
  return Array.isArray(container) ? new Map(container.map((element, index) => [String(index), element])) : container;
}

function oldSide(leaf: JsonValue): Pick<DiffEntry, 'old' | 'old-kind'> {
  return typeof leaf === 'string' ? { old: leaf } : { old: printLossless(leaf), 'old-kind': kindOf(leaf) };
}

function newSide(leaf: JsonValue): Pick<DiffEntry, 'new' | 'new-kind'> {
  return typeof leaf === 'string' ? { new: leaf } : { new: printLossless(leaf), 'new-kind': kindOf(leaf) };
}

function kindOf(value: Exclude<JsonValue, string>): DiffKind {
  if (value === null) return 'null';
  if (value instanceof JsonNumber) return 'number';
  if (value instanceof Map) return 'object';
  return Array.isArray(value) ? 'array' : 'boolean';
}

/** An object or array under change; elements stand by index, so that a removed one leaves a gap and moves no other. */
interface Branch {
  readonly isArray: boolean;
  /** A leaf is its JSON text. */
  readonly children: Map<string, Branch | string>;
}

function branchOf(container: Container): Branch {
  const children = Array.from(
    childrenOf(container),
    ([key, child]) => [key, isBranch(child) ? branchOf(child) : printLossless(child)] as const,
  );
  return { isArray: Array.isArray(container), children: new Map(children) };
}

function applyEntry(branch: Branch, [key, ...rest]: Path, entry: DiffEntry): void {
  if (key === undefined) throw otherSnapshot();
  if (rest[0] !== undefined) {
    applyEntry(entered(branch, key, rest[0]), rest, entry);
    return;
  }
  const before = branch.children.get(key);
  if ((before && textOf(before)) !== leafText(entry.old, entry['old-kind'])) throw otherSnapshot();
  const after = leafText(entry.new, entry['new-kind']);
  if (after === undefined) branch.children.delete(key);
  else branch.children.set(key, after);
}

/** The container under `key`, made by rule 1 when it is missing, or of the empty one that stands there. */
function entered(branch: Branch, key: string, step: string): Branch {
  const child = branch.children.get(key);
  if (typeof child === 'object') return child;
  if (child !== undefined && child !== '{}' && child !== '[]') throw otherSnapshot();
  const made: Branch = { isArray: child === undefined ? step === '0' : child === '[]', children: new Map() };
  branch.children.set(key, made);
  return made;
}

function leafText(value: string | undefined, kind: DiffKind | undefined): string | undefined {
  return value === undefined || kind !== undefined ? value : JSON.stringify(value);
}

/** Prints what a branch holds; undefined when it lost all its leaves. */
function textOf(value: Branch | string): string | undefined {
  if (typeof value === 'string') return value;
  const texts = new Map<string, string>();
  for (const [key, child] of value.children) {
    const text = textOf(child);
    if (text !== undefined) texts.set(key, text);
  }
  if (texts.size === 0) return undefined;
  return value.isArray ? `[${inIndexOrder(texts).join(',')}]` : objectText(texts);
}

function inIndexOrder(texts: ReadonlyMap<string, string>): string[] {
  return Array.from({ length: texts.size }, (_, index) => {
    const text = texts.get(String(index));
    if (text === undefined) throw otherSnapshot();
    return text;
  });
}

function otherSnapshot(): Error {
  return new Error('The diff was not made from this snapshot');
}
