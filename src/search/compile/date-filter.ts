import { earliestInstant, latestInstant } from '../../fhir/instant';
import { type DateBox } from '../query/search-query';
import { type Binder } from '../../store/binder';
import { anyStep, disjoint, FEW, type Step } from './many';

/** SQL that is true for rows whose `low` and `high` are within the limits that one of the boxes sets for them. */
export const dateFilter = (row: string, boxes: readonly DateBox[], bind: Binder): string =>
  periodFilter([`${row}.low`, `${row}.high`], boxes, bind);

/** Like {@link dateFilter}, for a column that holds one moment, in whole milliseconds. */
export const instantFilter = (column: string, boxes: readonly DateBox[], bind: Binder): string =>
  periodFilter([column, column], joinedMoments(boxes), bind);

/** Joins boxes that touch: one range can be read from an index, alternatives cannot. */
const joinedMoments = (boxes: readonly DateBox[]): readonly DateBox[] =>
  disjoint(
    boxes.map(({ lowFrom = -Infinity, lowTo = Infinity, highFrom = -Infinity, highTo = Infinity }) => [
      Math.max(lowFrom, highFrom),
      Math.min(lowTo, highTo) + 1,
    ]),
  ).map(([from, to]) => ({
    lowFrom: from === -Infinity ? undefined : from,
    highTo: to === Infinity ? undefined : to - 1,
  }));

type Ends = readonly [low: string, high: string];

function periodFilter(ends: Ends, boxes: readonly DateBox[], bind: Binder): string {
  const tests = boxes.length > FEW ? manyBoxes(ends, boxes, bind) : boxes.map((box) => inBox(ends, box, bind));
  return `(${tests.join(' or ')})`;
}

function inBox([low, high]: Ends, box: DateBox, bind: Binder): string {
  const limits = [
    limitOf(low, '>=', box.lowFrom, bind),
    limitOf(low, '<=', box.lowTo, bind),
    limitOf(high, '>=', box.highFrom, bind),
    limitOf(high, '<=', box.highTo, bind),
  ].filter((limit) => limit !== '');
  return limits.length === 0 ? 'true' : `(${limits.join(' and ')})`;
}

/**
 * Tests many boxes by binary search. A search has boxes of two kinds: those that contain the period of a row, and those
 * that overlap it. Open limits become infinity.
 */
function manyBoxes(ends: Ends, boxes: readonly DateBox[], bind: Binder): readonly string[] {
  const [low, high] = ends;
  const isOverlap = ({ lowFrom, highTo }: DateBox): boolean => lowFrom === undefined && highTo === undefined;
  const isWithin = (box: DateBox): boolean => !isOverlap(box) && box.lowTo === undefined && box.highFrom === undefined;
  const overlaps = boxes.filter(isOverlap).map(({ highFrom = -Infinity, lowTo = Infinity }): Step => [highFrom, lowTo]);
  const wholes = boxes.filter(isWithin).map(({ lowFrom = -Infinity, highTo = Infinity }): Step => [lowFrom, highTo]);
  const stepped = (x: string, y: string, steps: readonly Step[]): readonly string[] =>
    steps.length === 0 ? [] : [anyStep([x, y], steps, 'timestamptz', bind, instantText)];
  const others = boxes.filter((box) => !isOverlap(box) && !isWithin(box)).map((box) => inBox(ends, box, bind));
  return [...stepped(high, low, overlaps), ...stepped(low, high, wholes), ...others];
}

function limitOf(column: string, operator: string, at: number | undefined, bind: Binder): string {
  return at === undefined ? '' : `${column} ${operator} ${instantPlace(at, bind)}`;
}

export const instantPlace = (at: number, bind: Binder): string => `${bind.value(new Date(clamped(at)))}::timestamptz`;

/** An instant in epoch milliseconds as text, for arrays; open limits become `-infinity` and `infinity`. */
const instantText = (at: number): string =>
  Number.isFinite(at) ? new Date(clamped(at)).toISOString() : at < 0 ? '-infinity' : 'infinity';

/** Clamps an instant to the years of FHIR. No row lies outside, and PostgreSQL prints such dates differently. */
const clamped = (at: number): number => Math.min(Math.max(at, earliestInstant), latestInstant);
