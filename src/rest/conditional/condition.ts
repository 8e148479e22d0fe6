import { hash53 } from '../../search-index/extract/hash';
import { type Reach } from '../../search/rows/reach';
import { criteriaQuery } from '../../search/parse/criteria-query';

/** The condition of a write: resources of `type` that the query `criteria` finds. */
export interface Condition {
  readonly type: string;
  readonly criteria: string;
  /** Rows that the caller may see; others are not found. */
  readonly reach?: Reach | undefined;
}

/**
 * The canonical form of a condition: parameters decoded, alternatives and parameters sorted, duplicates dropped. Equal
 * canonical forms find the same resources; the reverse does not hold (`patient=p7`, `subject=Patient/p7`).
 */
export function canonicalCondition({ type, criteria }: Condition): string {
  const parameters = [...criteriaQuery(type, criteria)].map(([name, value]) => {
    const alternatives = value.match(/(?:\\.|[^\\,])+/gsu) ?? [];
    return `${name}=${[...new Set(alternatives)].sort().join(',')}`;
  });
  return `${type}?${[...new Set(parameters)].sort().join('&')}`;
}

/** Separates these locks from those of ids, which hash `Type/id` without a seed. */
const SEED = 0x0c0d;

/** The advisory lock of a condition. Two conditions may share one, which only costs a wait. */
export const lockKeyOf = (condition: Condition): number => hash53(canonicalCondition(condition), SEED);
