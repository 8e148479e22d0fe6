import { createHash } from 'node:crypto';
import { type JsonChild, JsonOutline, type JsonSpan } from '../../platform/json/json-outline';
import { unquoted } from '../../platform/json/json-skip';
import { type Steps } from '../../platform/time/steps';

/** How many characters are hashed between two pauses. */
const PIECE_CHARACTERS = 32_768;

/** How many members are read between two pauses. */
const MEMBERS_AT_ONCE = 1024;

/**
 * Computes the SHA-256 of a body without `meta`, with numbers as written and keys sorted by UTF-16 code unit. Equal
 * digests mean equal bodies, so the earlier snapshot need not be read.
 * @param resourceText compact JSON of an object
 */
export function* snapshotDigestOf(resourceText: string): Steps<Buffer> {
  return yield* new ContentHash(yield* JsonOutline.of(resourceText)).digest();
}

/** Hashes the canonical text piece by piece. The depth of a snapshot is bounded, so the walk through it recurses. */
class ContentHash {
  private readonly hash = createHash('sha256');
  private piece = '';

  constructor(private readonly outline: JsonOutline) {}

  *digest(): Steps<Buffer> {
    yield* this.add(this.outline.root, ['meta']);
    return this.hash.update(this.piece).digest();
  }

  /** Adds an object or array, without the members of the given keys. */
  private *add(container: JsonSpan, except: readonly string[] = []): Steps<void> {
    const { outline } = this;
    const isArray = outline.isArray(container);
    const children = outline.childrenOf(container);
    this.piece += isArray ? '[' : '{';
    let separator = '';
    for (const child of isArray ? children : yield* inKeyOrder(children)) {
      if (except.includes(child.key)) continue;
      this.piece += isArray ? separator : `${separator}${JSON.stringify(child.key)}:`;
      separator = ',';
      if (outline.isBranch(child)) yield* this.add(child);
      else this.piece += canonicalLeaf(outline.textOf(child));
      if (this.piece.length < PIECE_CHARACTERS) continue;
      this.hash.update(this.piece);
      this.piece = '';
      yield;
    }
    this.piece += isArray ? ']' : '}';
  }
}

/** Normalizes the escapes of a leaf, since a string can be escaped in several ways. */
const canonicalLeaf = (text: string): string => (text.includes('\\') ? JSON.stringify(unquoted(text)) : text);

/** Returns members sorted by key in UTF-16 order. Short runs are sorted and then merged, with pauses in between. */
function* inKeyOrder(members: Iterable<JsonChild>): Steps<readonly JsonChild[]> {
  let runs: (readonly JsonChild[])[] = [];
  let run: JsonChild[] = [];
  for (const child of members) {
    run.push(child);
    if (run.length < MEMBERS_AT_ONCE) continue;
    runs.push(run.sort(byKey));
    run = [];
    yield;
  }
  runs.push(run.sort(byKey));
  while (runs.length > 1) {
    const merged: (readonly JsonChild[])[] = [];
    for (let at = 0; at < runs.length; at += 2) merged.push(yield* mergedRuns(runs[at] ?? [], runs[at + 1] ?? []));
    runs = merged;
  }
  return runs[0] ?? [];
}

function* mergedRuns(left: readonly JsonChild[], right: readonly JsonChild[]): Steps<readonly JsonChild[]> {
  const merged: JsonChild[] = [];
  let [leftAt, rightAt] = [0, 0];
  for (;;) {
    const [a, b] = [left[leftAt], right[rightAt]];
    const next = a !== undefined && (b === undefined || byKey(a, b) < 0) ? a : b;
    if (next === undefined) return merged;
    if (next === a) leftAt++;
    else rightAt++;
    merged.push(next);
    if (merged.length % MEMBERS_AT_ONCE === 0) yield;
  }
}

/** Two keys of one object are never equal. */
const byKey = (a: JsonChild, b: JsonChild): number => (a.key < b.key ? -1 : 1);
