import { createHash } from 'node:crypto';
import { type JsonChild, JsonOutline, type JsonSpan } from '../../platform/json/json-outline';
import { unquoted } from '../../platform/json/json-skip';
import { type Walk, flattened } from '../../platform/json/walk';
import { type Steps } from '../../platform/time/steps';

/** How many characters are hashed between two pauses. */
const PIECE_CHARACTERS = 32_768;

/** How many members are compared or collected between two pauses. */
const MEMBERS_AT_ONCE = 1024;

/**
 * Computes the SHA-256 of the content of a snapshot: the whole body without `meta`, with numbers as written and
 * independent of the order of keys. The JSON text is hashed with its keys sorted by UTF-16 code unit. Equal digests
 * mean equal bodies, so the earlier snapshot need not be read.
 * @param resourceText compact JSON of an object
 */
export function* snapshotDigestOf(resourceText: string): Steps<Buffer> {
  const outline = yield* JsonOutline.of(resourceText);
  const hash = createHash('sha256');
  let piece = '';
  for (const token of flattened(canonicalTokens(outline, outline.root, ['meta']))) {
    piece += token ?? '';
    if (token !== undefined && piece.length < PIECE_CHARACTERS) continue;
    hash.update(piece);
    piece = '';
    yield;
  }
  return hash.update(piece).digest();
}

function* canonicalTokens(outline: JsonOutline, span: JsonSpan, without: readonly string[] = []): Walk<string> {
  if (!outline.isBranch(span)) {
    yield canonicalLeaf(outline.textOf(span));
    return;
  }
  const isArray = outline.isArray(span);
  let mark = isArray ? '[' : '{';
  for (const child of isArray ? outline.childrenOf(span) : yield* membersInOrder(outline, span)) {
    if (without.includes(child.key)) continue;
    const lead = isArray ? mark : `${mark}${JSON.stringify(child.key)}:`;
    if (outline.isBranch(child)) {
      yield lead;
      yield canonicalTokens(outline, child);
    } else yield lead + canonicalLeaf(outline.textOf(child));
    mark = ',';
  }
  if (mark === '{') yield mark;
  yield isArray ? ']' : '}';
}

/** Normalizes the escapes of a leaf, since a string can be escaped in several ways. */
const canonicalLeaf = (text: string): string => (text.includes('\\') ? JSON.stringify(unquoted(text)) : text);

/** Returns members sorted by key in UTF-16 order. Short runs are sorted and then merged, with pauses in between. */
function* membersInOrder(outline: JsonOutline, span: JsonSpan): Generator<undefined, readonly JsonChild[], void> {
  let runs: (readonly JsonChild[])[] = [];
  let run: JsonChild[] = [];
  for (const child of outline.childrenOf(span)) {
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

function* mergedRuns(
  left: readonly JsonChild[],
  right: readonly JsonChild[],
): Generator<undefined, readonly JsonChild[], void> {
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

/** Orders children by key. Two keys of one object are never equal. */
const byKey = (a: JsonChild, b: JsonChild): number => (a.key < b.key ? -1 : 1);
