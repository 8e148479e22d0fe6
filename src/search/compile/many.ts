import { type Binder } from '../../store/binder';

/**
 * Maximum number of alternatives that are tested one by one for each candidate, by exact index keys. More alternatives
 * are gathered once or looked up, so that their cost does not multiply with the candidates.
 */
export const FEW = 16;

/** One alternative of a test on `x` and `y`: `from <= x and y <= to`. */
export type Step = readonly [from: number, to: number];

/**
 * SQL that is true if one of the steps matches `x` and `y`, at a cost logarithmic in the number of steps. A binary
 * search finds the steps that begin at or below `x`; of these steps, only the one with the largest end must be
 * compared.
 * @param print formats a number of a step as text of the type
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

/** Joins overlapping ranges, both ends included, so that each index range is read once. */
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
 * SQL that is true if `column` is among the values of a statement. The statement does not depend on the row, so it runs
 * once and fills a hash table. Two tricks keep it so: PostgreSQL expects an array to be short, and `is true` prevents a
 * join, which our sessions would run as a nested loop.
 */
export const among = (column: string, statement: string): string =>
  `((${column} in (select unnest(array(${statement})))) is true)`;
