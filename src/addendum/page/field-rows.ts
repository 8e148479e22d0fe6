import { type JsonChild, type JsonOutline, type JsonSpan } from '../../platform/json/json-outline';
import { unquoted } from '../../platform/json/json-skip';
import { isObject } from '../../platform/json/plain-object';
import { isSameNumber } from '../../platform/json/same-number';
import { type DiffEntry, type DiffKind, leafOf } from '../snapshots/snapshot-diff';
import { CHILDREN_AT_ONCE, type FieldValue, type Pausing, type SnapshotFields } from './snapshot-fields';

export interface FieldRow {
  /** `respelled`: the same number written with other digits. `reordered`: the same elements in another order. */
  readonly type: 'recorded' | 'added' | 'removed' | 'changed' | 'respelled' | 'reordered';
  readonly path: readonly string[];
  /** The path for people: a readable text for each step. */
  readonly label: readonly string[];
  readonly old?: FieldValue;
  readonly new?: FieldValue;
}

/** The rows of a table. An undefined row is a pause, in which other requests may run: a body may have megabytes. */
export type FieldRows = Iterable<FieldRow | undefined>;

type Rows = Generator<FieldRow | undefined, void, void>;

type Path = readonly string[];

/** Members that the heading of the page shows, so the table omits them. */
const OF_THE_TARGET = ['meta', 'resourceType', 'id'];

/**
 * Yields a row for each value of a body. A value with its unit is one row, and so is a coding or a reference.
 * @param except top-level members that are left out, since the page shows them elsewhere
 */
export function* valueRows(fields: SnapshotFields, except: readonly string[] = OF_THE_TARGET): Rows {
  for (const child of fields.outline.childrenOf(fields.outline.root))
    if (!except.includes(child.key)) yield* rowsWithin(fields, [], child);
}

function* rowsWithin(fields: SnapshotFields, parent: Path, child: JsonChild): Rows {
  const { outline } = fields;
  const path = [...parent, child.key];
  yield* fields.reach(path);
  const value = outline.isBranch(child) ? inOneLine(outline, child) : leafOf(outline.textOf(child));
  if (value === undefined) for (const inner of outline.childrenOf(child)) yield* rowsWithin(fields, path, inner);
  else if (!isShownElsewhere(fields, parent, child.key))
    yield { type: 'recorded', path, label: fields.labelOf(path), new: measured(value, fields.unitOf(path)) };
}

/** Whether another row shows the member: a unit is shown with its value, and the text of an answer is the label. */
function isShownElsewhere(fields: SnapshotFields, parent: Path, key: string): boolean {
  if (parent.length === 0) return false;
  if (key === fields.nameMemberOf(parent)) return true;
  return key === 'unit' && fields.unitOf([...parent, 'value']) !== undefined;
}

/**
 * Yields the differences between two bodies for people, with labels and units. A row whose value is equal but written
 * differently, or whose elements have another order, has the type `respelled` or `reordered`.
 */
export function* changeRows(before: SnapshotFields, after: SnapshotFields, entries: Iterable<DiffEntry>): Rows {
  const orders = new Orders(before, after);
  const shown = new Set<FieldRow>();
  for (const entry of entries) {
    const { path } = entry;
    const reordered = yield* orders.of(path);
    if (reordered !== undefined) {
      // One row shows the array. The diff may have many more entries for its elements.
      yield shown.has(reordered) ? undefined : reordered;
      shown.add(reordered);
      continue;
    }
    yield* before.reach(path);
    yield* after.reach(path);
    if (isAnnouncement(entry, after)) continue;
    yield {
      type: changeTypeOf(entry),
      path,
      label: (entry.new === undefined ? before : after).labelOf(path),
      ...sideOf('old', entry.old, entry['old-kind'], before.unitOf(path)),
      ...sideOf('new', entry.new, entry['new-kind'], after.unitOf(path)),
    };
  }
}

/**
 * Whether an entry of a diff adds an empty container only to say that it is an object or an array (snapshot-diff.ts).
 * Such an entry needs no row, since the leaves of the container have rows.
 */
const isAnnouncement = (entry: DiffEntry, after: SnapshotFields): boolean => {
  if (entry.type !== 'add' || (entry['new-kind'] !== 'object' && entry['new-kind'] !== 'array')) return false;
  const found = after.find(entry.path);
  return found !== undefined && after.outline.isBranch(found);
};

function changeTypeOf(entry: DiffEntry): FieldRow['type'] {
  if (entry.type === 'add') return 'added';
  if (entry.type === 'remove') return 'removed';
  const areNumbers = entry['old-kind'] === 'number' && entry['new-kind'] === 'number';
  return areNumbers && isSameNumber(entry.old ?? '', entry.new ?? '') ? 'respelled' : 'changed';
}

/**
 * Yields the changes that an Amendment lists. They are shown if they differ from the changes between the snapshots.
 * @param text the JSON text of the list
 * @param signed the signed body from which the labels come
 */
export function* listedRows(text: string | undefined, signed: SnapshotFields | undefined): Generator<FieldRow> {
  const diff: unknown = JSON.parse(text ?? '[]');
  for (const entry of Array.isArray(diff) ? diff.filter(isDiffEntry) : []) {
    const { type, path } = entry;
    yield {
      type: type === 'add' ? 'added' : type === 'remove' ? 'removed' : 'changed',
      path,
      label: signed?.labelOf(path) ?? path,
      ...sideOf('old', entry.old, entry['old-kind'], undefined),
      ...sideOf('new', entry.new, entry['new-kind'], undefined),
    };
  }
}

const isDiffEntry = (entry: unknown): entry is DiffEntry => isObject(entry) && Array.isArray(entry.path);

function sideOf(
  side: 'old' | 'new',
  text: string | undefined,
  kind: DiffKind | undefined,
  unit: string | undefined,
): Pick<FieldRow, 'old' | 'new'> {
  return text === undefined ? {} : { [side]: measured({ text, kind }, unit) };
}

const measured = (value: FieldValue, unit: string | undefined): FieldValue =>
  unit === undefined ? value : { ...value, unit };

/** Finds arrays that were only reordered. Their diff has entries for many indexes although no element is new. */
class Orders {
  /** The row of each array, by its path; undefined for an array that was not only reordered. */
  private readonly known = new Map<string, FieldRow | undefined>();

  constructor(
    private readonly before: SnapshotFields,
    private readonly after: SnapshotFields,
  ) {}

  /** Returns the row of the array that contains `path`, if the array was only reordered. */
  *of(path: Path): Pausing<FieldRow | undefined> {
    for (let length = 1; length < path.length; length++) {
      if (!/^\d+$/.test(path[length] ?? '')) continue;
      const name = JSON.stringify(path.slice(0, length));
      if (!this.known.has(name)) this.known.set(name, yield* this.reordered(path.slice(0, length)));
      const row = this.known.get(name);
      if (row !== undefined) return row;
    }
    return undefined;
  }

  private *reordered(path: Path): Pausing<FieldRow | undefined> {
    const [old, now] = [this.before.find(path), this.after.find(path)];
    if (old === undefined || now === undefined) return undefined;
    const { before, after } = this;
    if (!before.outline.isArray(old) || !after.outline.isArray(now) || old.end - old.start !== now.end - now.start)
      return undefined;
    const counts = new Map<string, number>();
    let read = 0;
    for (const text of textsIn(before.outline, old)) {
      if (++read % CHILDREN_AT_ONCE === 0) yield undefined;
      counts.set(text, (counts.get(text) ?? 0) + 1);
    }
    for (const text of textsIn(after.outline, now)) {
      if (++read % CHILDREN_AT_ONCE === 0) yield undefined;
      const left = counts.get(text) ?? 0;
      if (left === 0) return undefined;
      counts.set(text, left - 1);
    }
    return {
      type: 'reordered',
      path,
      label: after.labelOf(path),
      old: { text: before.outline.textOf(old), kind: 'array' },
      new: { text: after.outline.textOf(now), kind: 'array' },
    };
  }
}

function* textsIn(outline: JsonOutline, array: JsonSpan): Generator<string> {
  for (const element of outline.childrenOf(array)) yield outline.textOf(element);
}

const REFERENCE = ['id', 'resourceType', 'display'];
const CODING = ['code', 'system', 'version', 'text', 'display'];

/** Returns a reference or coding that contains only strings, as one value; undefined for any other object. */
function inOneLine(outline: JsonOutline, span: JsonSpan): FieldValue | undefined {
  if (outline.isArray(span)) return undefined;
  const members = new Map<string, string>();
  for (const child of outline.childrenOf(span)) {
    const text = outline.textOf(child);
    if (!CODING.includes(child.key) && !REFERENCE.includes(child.key)) return undefined;
    if (!text.startsWith('"')) return undefined;
    members.set(child.key, unquoted(text));
  }
  const [id, resourceType, code] = ['id', 'resourceType', 'code'].map((key) => members.get(key));
  const areAll = (known: readonly string[]): boolean => [...members.keys()].every((key) => known.includes(key));
  if (id !== undefined && resourceType !== undefined && areAll(REFERENCE)) {
    const display = members.get('display');
    const name = `${resourceType}/${id}`;
    return { kind: 'reference', text: display === undefined ? name : `${display} (${name})` };
  }
  if (code === undefined || !areAll(CODING)) return undefined;
  const names = ['text', 'display'].flatMap((key) => members.get(key) ?? []);
  const about = ['system', 'version'].flatMap((key) => {
    const text = members.get(key);
    return text === undefined ? [] : [`${key} ${text}`];
  });
  return { kind: 'coding', text: [...new Set(names), `code ${code}`, ...about].join(', ') };
}
