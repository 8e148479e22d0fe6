import { type FieldRow } from '../../parts/body/body';
import { type AddendumAnswer } from './record';

/** A field of a revision, its change since the previous revision, and its comments. */
export interface MergedRow extends FieldRow {
  readonly comments: readonly AddendumAnswer[];
}

/**
 * All values of a revision with its changes: a change replaces its value, and a removed value follows the value nearest
 * to it in the document.
 */
export function mergedRows(
  values: readonly FieldRow[],
  changes: readonly FieldRow[],
  comments: readonly AddendumAnswer[] = [],
): readonly MergedRow[] {
  const places = new Map(values.map((row, index) => [keyOf(row.path), index]));
  const atPlace = new Map<number, FieldRow>();
  const behind = new Map<number, FieldRow[]>();
  let last: ReadonlyMap<string, number> | undefined;
  for (const change of withoutShownUnits(changes)) {
    const place = places.get(keyOf(change.path));
    if (place !== undefined) {
      atPlace.set(place, change);
      continue;
    }
    last ??= lastRows(values);
    const nearest = nearestTo(change.path, last, values.length);
    const list = behind.get(nearest);
    if (list === undefined) behind.set(nearest, [change]);
    else list.push(change);
  }
  const rows = [...(behind.get(-1) ?? [])];
  values.forEach((row, index) => rows.push(atPlace.get(index) ?? row, ...(behind.get(index) ?? [])));
  return withComments(rows, comments);
}

/** Omits the change of a unit that was added or removed with its value: the unit is shown with the value. */
export function withoutShownUnits(changes: readonly FieldRow[]): readonly FieldRow[] {
  if (!changes.some(({ path }) => path.at(-1) === 'unit')) return changes;
  const values = new Map(changes.map((change) => [keyOf(change.path), change]));
  return changes.filter(({ type, path, old, new: now }) => {
    const value = path.at(-1) === 'unit' ? values.get(keyOf([...path.slice(0, -1), 'value'])) : undefined;
    return value?.type !== type || value.old?.unit !== old?.text || value.new?.unit !== now?.text;
  });
}

/** The index of the last row below each container. */
function lastRows(rows: readonly FieldRow[]): ReadonlyMap<string, number> {
  const last = new Map<string, number>();
  rows.forEach(({ path }, index) => {
    for (let length = 1; length <= path.length; length++) last.set(keyOf(path.slice(0, length)), index);
  });
  return last;
}

/**
 * The index of the last of the rows whose paths have the longest common beginning with `path`. If no path has one, it
 * is the index of the last row; -1 without rows.
 */
function nearestTo(path: readonly string[], last: ReadonlyMap<string, number>, count: number): number {
  for (let length = path.length - 1; length > 0; length--) {
    const row = last.get(keyOf(path.slice(0, length)));
    if (row !== undefined) return row;
  }
  return count - 1;
}

/** A comment on a container is shown at its first value. */
function withComments(rows: readonly FieldRow[], comments: readonly AddendumAnswer[]): readonly MergedRow[] {
  if (comments.length === 0) return rows.map((row) => ({ ...row, comments: [] }));
  const byRow = new Map<number, AddendumAnswer[]>();
  for (const comment of comments) {
    const path = comment.about?.path ?? [];
    const index = rows.findIndex((row) => isWithin(row.path, path) || isWithin(path, row.path));
    if (index >= 0) byRow.set(index, [...(byRow.get(index) ?? []), comment]);
  }
  return rows.map((row, index) => ({ ...row, comments: byRow.get(index) ?? [] }));
}

/** Comments whose field is not in the rows. */
export const unplaced = (
  rows: readonly MergedRow[],
  comments: readonly AddendumAnswer[],
): readonly AddendumAnswer[] => {
  const placed = new Set(rows.flatMap((row) => row.comments));
  return comments.filter((comment) => !placed.has(comment));
};

const isWithin = (path: readonly string[], container: readonly string[]): boolean =>
  path.length >= container.length && container.length > 0 && container.every((step, index) => path[index] === step);

/** A path as one text. No key contains NUL, since the server refuses such keys. */
const keyOf = (path: readonly string[]): string => path.join('\0');
