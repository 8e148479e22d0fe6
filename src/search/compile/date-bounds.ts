import { type DateBox, type SearchClause } from '../query/search-query';

/**
 * Maximum number of alternatives that a joined clause may have, since each costs a comparison per row; above it the
 * clauses stay separate.
 */
const MAX_BOXES = 16;

/** The time span (epoch milliseconds) of all rows that can match one of the boxes; an undefined end is open. */
export function reachOf(boxes: readonly DateBox[]): { from: number | undefined; to: number | undefined } {
  const froms = boxes.map(({ lowFrom, highFrom }) => lowFrom ?? highFrom);
  const tos = boxes.map(({ lowTo, highTo }) => lowTo ?? highTo);
  const from = froms.includes(undefined) ? undefined : Math.min(...froms.map((one) => one ?? 0));
  const to = tos.includes(undefined) ? undefined : Math.max(...tos.map((one) => one ?? 0));
  // If `to` is before `from`, each matching period contains both instants, so the upper bound is open.
  return from !== undefined && to !== undefined && from > to ? { from, to: undefined } : { from, to };
}

/**
 * Joins `date=ge…&date=lt…` into one clause if a resource has at most one value of the date. Both limits then apply to
 * the same row, and only the part of the index between them is read.
 */
export function withJoinedDates(clauses: readonly SearchClause[]): readonly SearchClause[] {
  const joined: SearchClause[] = [];
  for (const clause of clauses) {
    const at = joined.findIndex((one) => isSameDate(one, clause));
    const known = joined[at];
    if (known && 'boxes' in known && 'boxes' in clause && known.boxes.length * clause.boxes.length <= MAX_BOXES)
      joined[at] = {
        ...known,
        boxes: known.boxes.flatMap((one) => clause.boxes.map((box) => intersectionOf(one, box))),
      };
    else joined.push(clause);
  }
  return joined;
}

const isSameDate = (one: SearchClause, other: SearchClause): boolean =>
  (one.kind === 'updated' && other.kind === 'updated') ||
  (one.kind === 'date' &&
    other.kind === 'date' &&
    one.isSingle &&
    other.isSingle &&
    one.parameterIds.join() === other.parameterIds.join());

const intersectionOf = (one: DateBox, other: DateBox): DateBox => ({
  lowFrom: nearer(Math.max, one.lowFrom, other.lowFrom),
  lowTo: nearer(Math.min, one.lowTo, other.lowTo),
  highFrom: nearer(Math.max, one.highFrom, other.highFrom),
  highTo: nearer(Math.min, one.highTo, other.highTo),
});

const nearer = (choose: typeof Math.max, one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? (one ?? other) : choose(one, other);
