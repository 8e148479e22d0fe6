import { type DateBox, type DateClause, type SearchClause } from '../query/search-query';

/**
 * Maximum number of alternatives that a joined clause may have, since each costs a comparison per row; above it the
 * clauses stay separate.
 */
const MAX_BOXES = 16;

/** The time span of the rows to read, in epoch milliseconds; an undefined end is open. */
export interface DateReach {
  readonly from: number | undefined;
  readonly to: number | undefined;
}

/** The time span in which all rows lie that can match one of the boxes. */
export function reachOf(boxes: readonly DateBox[]): DateReach {
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
    const isJoined =
      known?.kind === 'date' && clause.kind === 'date' && known.boxes.length * clause.boxes.length <= MAX_BOXES;
    if (isJoined) joined[at] = { ...known, boxes: intersectionsOf(known.boxes, clause.boxes) };
    else joined.push(clause);
  }
  return joined;
}

const isSameDate = (one: SearchClause, other: SearchClause): boolean =>
  one.kind === 'date' && other.kind === 'date' && one.isSingle && other.isSingle && hasSameIds(one, other);

const hasSameIds = (one: DateClause, other: DateClause): boolean =>
  one.parameterIds.join() === other.parameterIds.join();

const intersectionsOf = (some: readonly DateBox[], others: readonly DateBox[]): readonly DateBox[] =>
  some.flatMap((one) => others.map((other) => intersectionOf(one, other)));

function intersectionOf(one: DateBox, other: DateBox): DateBox {
  const box = {
    lowFrom: latest(one.lowFrom, other.lowFrom),
    lowTo: earliest(one.lowTo, other.lowTo),
    highFrom: latest(one.highFrom, other.highFrom),
    highTo: earliest(one.highTo, other.highTo),
  };
  return Object.fromEntries(Object.entries(box).filter(([, limit]) => limit !== undefined));
}

const latest = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined ? other : other === undefined ? one : Math.max(one, other);

const earliest = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined ? other : other === undefined ? one : Math.min(one, other);
