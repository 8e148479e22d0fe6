import { hash53 } from '../../search-index/extract/hash';
import { type Reach } from '../../search/rows/reach';
import { criteriaQuery } from '../../search/parse/criteria-query';

/** The condition of a write. It means the resources of `type` that the query `criteria` finds. */
export interface Condition {
  readonly type: string;
  readonly criteria: string;
  /** Rows that the caller may see. Resources outside of them are not found. */
  readonly reach?: Reach | undefined;
}

/**
 * The canonical form of a condition: parameters are decoded, parameters and alternatives are sorted, duplicates are
 * dropped. Conditions of the same form find the same resources. Conditions of different forms may do so too
 * (`patient=p7`, `subject=Patient/p7`).
 */
export function canonicalCondition({ type, criteria }: Condition): string {
  const parameters = [...criteriaQuery(type, criteria)].map(([name, value]) => {
    const alternatives = value.match(/(?:\\.|[^\\,])+/gsu) ?? [];
    return `${name}=${[...new Set(alternatives)].sort().join(',')}`;
  });
  return `${type}?${[...new Set(parameters)].sort().join('&')}`;
}

/**
 * Seed of the hashes of conditions. It keeps their locks apart from locks of ids, which hash `Type/id` without a seed.
 */
const SEED = 0x0c0d;

/** The key of a condition's advisory lock. Two conditions may have the same key; then one only waits for the other. */
export const lockKeyOf = (condition: Condition): number => hash53(canonicalCondition(condition), SEED);
