import { type Binder } from '../../platform/database/binder';

/**
 * Up to so many alternatives are tested one after the other for each candidate, which keeps the exact keys of an index. The cost
 * of more must not be multiplied by the candidates: they are gathered once, or looked up.
 */
export const FEW = 16;

/** One alternative: `from <= x and y <= to`. */
export type Step = readonly [from: number, to: number];

/**
 * SQL that is true when one of the steps holds for `x` and `y`. It costs the logarithm of their number: of the steps that begin
 * at or below `x`, which a binary search finds, only the largest end counts.
 * @param print a number of a step as text of the type
 */
export function anyStep(
  [x, y]: readonly [x: string, y: string],
  steps: readonly Step[],
  type: 'double precision' | 'timestamptz',
  bind: Binder,
  print: (value: number) => unknown = (value) => value,
): string {
  const sorted = steps.toSorted(([a], [b]) => a - b);
  let largest = -Infinity;
  const largestEnds = sorted.map(([, to]) => (largest = Math.max(largest, to)));
  const array = (values: readonly number[]): string => `(${bind.value(values.map(print))}::${type}[])`;
  return `((${y} <= ${array(largestEnds)}[width_bucket(${x}, ${array(sorted.map(([from]) => from))})]) is true)`;
}

/** The same numbers as ranges that do not overlap, both ends included: an index is then read once, however many were asked for. */
export function disjoint(steps: readonly Step[]): readonly Step[] {
  const joined: [number, number][] = [];
  for (const [from, to] of steps.toSorted(([a], [b]) => a - b)) {
    const last = joined.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
    else joined.push([from, to]);
  }
  return joined;
}

/**
 * SQL that is true when `column` is among the values of a statement that does not depend on the row. It runs once, and its values
 * are looked up in a hash table: behind the array PostgreSQL expects few of them, and `is true` keeps it from a join, whose inner
 * side our sessions would read for each row.
 */
export const among = (column: string, statement: string): string =>
  `((${column} in (select unnest(array(${statement})))) is true)`;
