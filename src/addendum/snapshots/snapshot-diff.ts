import { ServiceError } from '../../platform/errors/service-error';
import { type JsonChild, JsonOutline, type JsonSpan } from '../../platform/json/json-outline';
import { unquoted } from '../../platform/json/json-skip';
import { type Steps } from '../../platform/time/steps';

export type DiffKind = 'number' | 'boolean' | 'null' | 'object' | 'array';

/** A changed leaf of a snapshot, as an Amendment stores it (interface specification, "Diff object"). */
export interface DiffEntry {
  readonly type: 'remove' | 'replace' | 'add';
  /** Keys, and array indexes as decimal strings. */
  readonly path: readonly string[];
  readonly old?: string;
  readonly 'old-kind'?: DiffKind;
  readonly new?: string;
  readonly 'new-kind'?: DiffKind;
}

export interface SnapshotDiff {
  readonly entries: readonly DiffEntry[];
  readonly text: string;
}

/** A diff can be many times longer than its snapshots: a number of three characters may have an entry of a hundred. */
const MAX_DIFF_CHARACTERS = 64 * 1024 * 1024;

/** How many children are compared between two pauses. It takes less than a millisecond. */
const CHILDREN_AT_ONCE = 256;

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
  return yield* diffOutlines(yield* JsonOutline.of(oldText), yield* JsonOutline.of(newText));
}

export const diffOutlines = (before: JsonOutline, after: JsonOutline): Steps<SnapshotDiff> =>
  new Differ(before, after).compare();

type Path = readonly string[];

/** Collects the entries of a diff. The depth of snapshots is bounded, so the walk through them recurses. */
class Differ {
  private readonly entries: DiffEntry[] = [];
  private readonly texts: string[] = [];
  private length = 0;
  private count = 0;

  constructor(
    private readonly before: JsonOutline,
    private readonly after: JsonOutline,
  ) {}

  *compare(): Steps<SnapshotDiff> {
    yield* this.changesWithin([], this.before.root, this.after.root);
    return { entries: this.entries, text: `[${this.texts.join(',')}]` };
  }

  /**
   * Compares the children of two containers of one kind. Members mostly have the same order in both snapshots. So the
   * newer children are read only up to the key that is compared, and those passed on the way are kept by key.
   */
  private *changesWithin(path: Path, before: JsonSpan, after: JsonSpan): Steps<void> {
    const later = this.after.childrenOf(after);
    const passed = new Map<string, JsonChild>();
    for (const child of this.before.childrenOf(before)) {
      if (++this.count % CHILDREN_AT_ONCE === 0) yield;
      const now = passed.get(child.key) ?? (yield* this.readUpTo(child.key, later, passed));
      passed.delete(child.key);
      if (isIgnored(path, child.key) || (now !== undefined && this.isSameText(child, now))) continue;
      if (now === undefined) yield* this.removal([...path, child.key], child);
      else yield* this.change([...path, child.key], child, now);
    }
    yield* this.additions(path, passed.values());
    yield* this.additions(path, later);
  }

  /** Reads children up to a key, and returns the child of this key, if any. The others are put into `passed`. */
  private *readUpTo(
    key: string,
    children: Generator<JsonChild, void, void>,
    passed: Map<string, JsonChild>,
  ): Steps<JsonChild | undefined> {
    for (let next = children.next(); next.done !== true; next = children.next()) {
      if (++this.count % CHILDREN_AT_ONCE === 0) yield;
      if (next.value.key === key) return next.value;
      passed.set(next.value.key, next.value);
    }
    return undefined;
  }

  private *change(path: Path, before: JsonSpan, after: JsonSpan): Steps<void> {
    const [isBranch, becomesBranch] = [this.before.isBranch(before), this.after.isBranch(after)];
    const areBranches = isBranch && becomesBranch;
    if (areBranches && this.before.isArray(before) === this.after.isArray(after)) {
      yield* this.changesWithin(path, before, after);
    } else if (isBranch || becomesBranch) {
      yield* this.removal(path, before);
      yield* this.addition(path, after, areBranches);
    } else {
      const [old, now] = [leafOf(this.before.textOf(before)), leafOf(this.after.textOf(after))];
      if (old.text !== now.text || old.kind !== now.kind)
        this.add({ type: 'replace', path, ...oldSide(old), ...newSide(now) });
    }
  }

  private *removal(path: Path, span: JsonSpan): Steps<void> {
    if (!this.before.isBranch(span)) this.add({ type: 'remove', path, ...oldSide(leafOf(this.before.textOf(span))) });
    for (const child of this.before.childrenOf(span)) {
      if (++this.count % CHILDREN_AT_ONCE === 0) yield;
      yield* this.removal([...path, child.key], child);
    }
  }

  private *additions(path: Path, children: Iterable<JsonChild>): Steps<void> {
    for (const child of children) {
      if (++this.count % CHILDREN_AT_ONCE === 0) yield;
      if (!isIgnored(path, child.key)) yield* this.addition([...path, child.key], child);
    }
  }

  /** @param isOtherKind whether an object replaces an array, or the reverse */
  private *addition(path: Path, span: JsonSpan, isOtherKind = false): Steps<void> {
    const { after } = this;
    if (!after.isBranch(span)) this.add({ type: 'add', path, ...newSide(leafOf(after.textOf(span))) });
    else if (isOtherKind || beginsWithZero(after, span))
      this.add({ type: 'add', path, ...newSide(leafOf(after.isArray(span) ? '[]' : '{}')) });
    yield* this.additions(path, after.childrenOf(span));
  }

  private add(entry: DiffEntry): void {
    const text = JSON.stringify(entry);
    this.entries.push(entry);
    this.texts.push(text);
    this.length += text.length;
    if (this.length > MAX_DIFF_CHARACTERS) throw tooDifferent();
  }

  private isSameText(before: JsonSpan, after: JsonSpan): boolean {
    return (
      before.end - before.start === after.end - after.start && this.before.textOf(before) === this.after.textOf(after)
    );
  }
}

/** Whether the first key of an object is `0`, so that its path looks like that of an array. */
function beginsWithZero(outline: JsonOutline, span: JsonSpan): boolean {
  const [first] = outline.childrenOf(span);
  return first?.key === '0' && !outline.isArray(span);
}

/** Whether a member is not compared: `meta`, since the server sets the version and time in it. */
const isIgnored = (path: Path, key: string): boolean => path.length === 0 && key === 'meta';

/** A leaf: the text of a string, or any other value as JSON text with its kind. */
interface Leaf {
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
    'diff-too-large',
    `The two latest snapshots differ in so many values that the list would be longer than ${MAX_DIFF_CHARACTERS / 1024 / 1024} MiB. No Amendment is stored; both snapshots stay in their History addenda.`,
  );
