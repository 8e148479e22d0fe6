import { objectText } from '../../src/platform/json/json-members';
import { type JsonObject, type JsonValue } from '../../src/platform/json/lossless';
import { parseLossless, printLossless } from './lossless-text';
import { type DiffEntry, type DiffKind } from '../../src/addendum/snapshots/snapshot-diff';

/**
 * Computes the newer snapshot, without `meta`, from the older one and their diff.
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

/** Whether a value is an object or array with children; anything else is a leaf. */
function isBranch(value: JsonValue | undefined): value is Container {
  return Array.isArray(value) ? value.length > 0 : value instanceof Map && value.size > 0;
}

function childrenOf(container: Container): JsonObject {
  return Array.isArray(container) ? new Map(container.map((element, index) => [String(index), element])) : container;
}

/**
 * An object or array that is being changed. Elements are keyed by index, so that the removal of an element moves no
 * other element.
 */
interface Branch {
  readonly isArray: boolean;
  /** The children by their keys. A leaf is stored as its JSON text. */
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

/**
 * The container under `key`. A missing one is created: an array if the next step of the path is `0`, else an object. An
 * empty object or array, which was a leaf, becomes a container.
 */
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

/** Prints a branch; undefined if it has no leaves left. */
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
