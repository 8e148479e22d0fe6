import { type Compiled, computedBranch, evaluatorOf, type Variables } from './compiled';
import { distinctKeyOf } from './values';

/** Length up to which scanning a list is cheaper than building a set. */
const SHORT = 16;

/**
 * Caches the values of a path that starts at `%resource` or `%context`, for one evaluation. Without the cache, `all(…)`
 * or `where(…)` would evaluate the path for each item, at quadratic cost for a large body.
 */
export function remembered(compiled: Compiled): Compiled {
  return {
    branches: compiled.branches.map((branch) => {
      const kept = new WeakMap<Variables, readonly unknown[]>();
      const values = evaluatorOf({ branches: [branch] });
      return computedBranch(branch.type, (focus, variables) => {
        const known = kept.get(variables) ?? values(focus, variables);
        kept.set(variables, known);
        return known;
      });
    }),
  };
}

const sets = new WeakMap<readonly unknown[], ReadonlySet<unknown>>();

/** Whether `list` contains `value`. A long list that is searched again is kept as a set. */
export function holds(list: readonly unknown[], value: unknown, isOfNodes: boolean): boolean {
  const sought = distinctKeyOf(value, isOfNodes);
  if (list.length < SHORT) return list.some((item) => distinctKeyOf(item, isOfNodes) === sought);
  const set = sets.get(list) ?? new Set(list.map((item) => distinctKeyOf(item, isOfNodes)));
  sets.set(list, set);
  return set.has(sought);
}
