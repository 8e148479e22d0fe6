import { createHash } from 'node:crypto';
import { type JsonChild, JsonOutline, type JsonSpan } from '../../platform/json/json-outline';
import { unquoted } from '../../platform/json/json-skip';
import { type Walk, flattened } from '../../platform/json/walk';
import { type Steps } from '../../platform/time/steps';

/** Characters hashed at once. */
const PIECE_CHARACTERS = 32_768;

/** Members compared or collected between two pauses. */
const MEMBERS_AT_ONCE = 1024;

/**
 * SHA-256 over the compared content of a snapshot: the whole body without `meta`, keys in any order, numbers as
 * written. Equal digests mean equal bodies, so the earlier snapshot need not be read. Hashes the JSON text with keys
 * sorted by UTF-16 unit.
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

/** Normalizes escapes, which have several spellings. */
const canonicalLeaf = (text: string): string => (text.includes('\\') ? JSON.stringify(unquoted(text)) : text);

/** The members of an object in UTF-16 order of their keys. Runs are sorted, then merged, so that sorting can pause. */
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

/** The keys of one object are distinct. */
const byKey = (a: JsonChild, b: JsonChild): number => (a.key < b.key ? -1 : 1);
