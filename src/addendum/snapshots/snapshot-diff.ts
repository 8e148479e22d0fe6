import { ServiceError } from '../../platform/errors/service-error';
import { type JsonChild, JsonOutline, type JsonSpan } from '../../platform/json/json-outline';
import { unquoted } from '../../platform/json/json-skip';
import { type Walk, flattened } from '../../platform/json/walk';
import { type Steps } from '../../platform/time/steps';

export type DiffKind = 'number' | 'boolean' | 'null' | 'object' | 'array';

/** A changed leaf of a snapshot, as an Amendment stores it (interface specification, "Diff object"). */
export interface DiffEntry {
  readonly type: 'remove' | 'replace' | 'add';
  /** The path to the leaf: keys, and array indexes as decimal strings. */
  readonly path: readonly string[];
  readonly old?: string;
  readonly 'old-kind'?: DiffKind;
  readonly new?: string;
  readonly 'new-kind'?: DiffKind;
}

export interface SnapshotDiff {
  readonly entries: readonly DiffEntry[];
  /** The list of entries as JSON text. */
  readonly text: string;
}

/** A diff can be many times longer than its snapshots: a number of three characters may have an entry of a hundred. */
const MAX_DIFF_CHARACTERS = 64 * 1024 * 1024;

/** How many entries, or leaves without an entry, are handled between two pauses. It takes less than a millisecond. */
const LEAVES_AT_ONCE = 256;

/**
 * Compares two snapshots (compact JSON texts of objects), without their `meta`. The result has one entry for each leaf
 * that differs. A leaf is a string, a number as written, a boolean, null, or an empty object or array. Objects are
 * compared by key, in any order; arrays are compared by index. The entries are in the order of the old snapshot.
 * Members that were added to an object come after its old members.
 *
 * The path of a leaf does not always say whether its container is an object or an array. So a program that applies the
 * entries takes them in order, and
 * 1. creates a missing container with its first leaf: an array when the next step of the path is `0`, else an object;
 * 2. removes, at the end, each container that lost all its leaves.
 * Rule 1 would be wrong for an object whose first key is `0`, and for an object that replaces an array or the reverse.
 * In these cases an entry that adds the empty container comes before the entries of its leaves.
 * @throws ServiceError 'unprocessable' when the entries would be too long to store
 */
export function* diffSnapshots(oldText: string, newText: string): Steps<SnapshotDiff> {
  const entries: DiffEntry[] = [];
  const texts: string[] = [];
  let length = 0;
  const differ = new Differ(yield* JsonOutline.of(oldText), yield* JsonOutline.of(newText));
  for (const entry of flattened(differ.differences())) {
    if (entry !== undefined) {
      entries.push(entry);
      const text = JSON.stringify(entry);
      texts.push(text);
      length += text.length;
      if (length > MAX_DIFF_CHARACTERS) throw tooDifferent();
    }
    if (entry === undefined || entries.length % LEAVES_AT_ONCE === 0) yield;
  }
  return { entries, text: `[${texts.join(',')}]` };
}

type Path = readonly string[];

class Differ {
  constructor(
    private readonly before: JsonOutline,
    private readonly after: JsonOutline,
  ) {}

  differences(): Walk<DiffEntry> {
    return this.changesWithin([], this.before.root, this.after.root);
  }

  private *changesWithin(path: Path, before: JsonSpan, after: JsonSpan): Walk<DiffEntry> {
    const later = new Remaining(this.after.childrenOf(after));
    let count = 0;
    for (const child of this.before.childrenOf(before)) {
      if (++count % LEAVES_AT_ONCE === 0) yield;
      const now = later.isNext(child.key) ? later.takeNext() : (yield* later.gather()).take(child.key);
      if (isIgnored(path, child.key) || (now !== undefined && this.isSameText(child, now))) continue;
      const step = now === undefined ? this.removal(path, child) : this.change(path, child, now);
      if (step !== undefined) yield step;
    }
    for (const child of (yield* later.gather()).rest()) {
      if (!isIgnored(path, child.key)) yield this.addition(path, child);
    }
  }

  private change(parent: Path, before: JsonChild, after: JsonSpan): DiffEntry | Walk<DiffEntry> | undefined {
    const path = [...parent, before.key];
    const [isBranch, becomesBranch] = [this.before.isBranch(before), this.after.isBranch(after)];
    if (isBranch && becomesBranch) {
      const isSameKind = this.before.isArray(before) === this.after.isArray(after);
      return isSameKind ? this.changesWithin(path, before, after) : this.replacement(path, before, after);
    }
    if (isBranch || becomesBranch) return this.exchange(parent, before, { ...after, key: before.key });
    const [old, now] = [leafOf(this.before.textOf(before)), leafOf(this.after.textOf(after))];
    if (old.text === now.text && old.kind === now.kind) return undefined;
    return { type: 'replace', path, ...oldSide(old), ...newSide(now) };
  }

  /** Yields the entries when an object replaces an array, or the reverse. */
  private *replacement(path: Path, before: JsonSpan, after: JsonSpan): Walk<DiffEntry> {
    yield this.removalsWithin(path, before);
    yield this.announcement(path, after);
    yield this.additionsWithin(path, after);
  }

  /** Yields the entries when a leaf replaces a container with children, or the reverse. */
  private *exchange(path: Path, before: JsonChild, after: JsonChild): Walk<DiffEntry> {
    yield this.removal(path, before);
    yield this.addition(path, after);
  }

  private removal(parent: Path, child: JsonChild): DiffEntry | Walk<DiffEntry> {
    const path = [...parent, child.key];
    if (this.before.isBranch(child)) return this.removalsWithin(path, child);
    return { type: 'remove', path, ...oldSide(leafOf(this.before.textOf(child))) };
  }

  private *removalsWithin(path: Path, span: JsonSpan): Walk<DiffEntry> {
    for (const child of this.before.childrenOf(span)) yield this.removal(path, child);
  }

  private addition(parent: Path, child: JsonChild): DiffEntry | Walk<DiffEntry> {
    const path = [...parent, child.key];
    if (this.after.isBranch(child)) return this.announcedAdditions(path, child);
    return { type: 'add', path, ...newSide(leafOf(this.after.textOf(child))) };
  }

  private *announcedAdditions(path: Path, span: JsonSpan): Walk<DiffEntry> {
    const [first] = this.after.childrenOf(span);
    if (!this.after.isArray(span) && first?.key === '0') yield this.announcement(path, span);
    yield this.additionsWithin(path, span);
  }

  private *additionsWithin(path: Path, span: JsonSpan): Walk<DiffEntry> {
    for (const child of this.after.childrenOf(span)) yield this.addition(path, child);
  }

  private announcement(path: Path, span: JsonSpan): DiffEntry {
    return { type: 'add', path, ...newSide(leafOf(this.after.isArray(span) ? '[]' : '{}')) };
  }

  private isSameText(before: JsonSpan, after: JsonSpan): boolean {
    return (
      before.end - before.start === after.end - after.start && this.before.textOf(before) === this.after.textOf(after)
    );
  }
}

/**
 * The children of a container in the newer snapshot that are not yet compared with a child in the older one. Members
 * mostly have the same order in both snapshots, so the children are taken one by one. The rest is collected by key only
 * where the order differs.
 */
class Remaining {
  private next: IteratorResult<JsonChild, void>;
  private gathered: Map<string, JsonChild> | undefined;

  constructor(private readonly children: Generator<JsonChild, void, void>) {
    this.next = children.next();
  }

  isNext(key: string): boolean {
    return this.gathered === undefined && this.next.done !== true && this.next.value.key === key;
  }

  takeNext(): JsonChild | undefined {
    const child = this.next.value;
    this.next = this.children.next();
    return child ?? undefined;
  }

  take(key: string): JsonChild | undefined {
    const child = this.gathered?.get(key);
    this.gathered?.delete(key);
    return child;
  }

  rest(): Iterable<JsonChild> {
    return this.gathered?.values() ?? [];
  }

  *gather(): Generator<undefined, this, void> {
    if (this.gathered !== undefined) return this;
    this.gathered = new Map();
    for (; this.next.done !== true; this.next = this.children.next()) {
      this.gathered.set(this.next.value.key, this.next.value);
      if (this.gathered.size % LEAVES_AT_ONCE === 0) yield;
    }
    return this;
  }
}

/** Whether a member is not compared: `meta`, since the server sets the version and time in it. */
const isIgnored = (path: Path, key: string): boolean => path.length === 0 && key === 'meta';

/** A leaf: the text of a string, or any other value as JSON text with its kind. */
export interface Leaf {
  readonly text: string;
  readonly kind: DiffKind | undefined;
}

export const leafOf = (json: string): Leaf =>
  json.startsWith('"')
    ? { text: unquoted(json), kind: undefined }
    : { text: json, kind: KINDS[json.charAt(0)] ?? 'number' };

const oldSide = ({ text, kind }: Leaf): Pick<DiffEntry, 'old' | 'old-kind'> =>
  kind === undefined ? { old: text } : { old: text, 'old-kind': kind };

const newSide = ({ text, kind }: Leaf): Pick<DiffEntry, 'new' | 'new-kind'> =>
  kind === undefined ? { new: text } : { new: text, 'new-kind': kind };

const KINDS: Readonly<Record<string, DiffKind>> = {
  n: 'null',
  t: 'boolean',
  f: 'boolean',
  '{': 'object',
  '[': 'array',
};

const tooDifferent = (): ServiceError =>
  new ServiceError(
    'unprocessable',
    `The two latest snapshots differ in so many values that the list would be longer than ${MAX_DIFF_CHARACTERS / 1024 / 1024} MiB. No Amendment is stored; both snapshots stay in their History addenda.`,
    { code: 'diff-too-large' },
  );
