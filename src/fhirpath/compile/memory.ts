import { type Compiled, computedBranch, evaluatorOf, type Variables } from './compiled';
import { distinctKeyOf } from './values';

/** Below this, looking through a list is cheaper than a set of it. */
const SHORT = 16;

/**
 * Remembers the values of a path that begins at `%resource` or `%context` for one evaluation: in `all(…)` or `where(…)` it would
 * be walked again for each item, which a large body makes quadratic.
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

/** Whether `list` holds `value`. A long list that comes again is looked up in a set. */
export function holds(list: readonly unknown[], value: unknown, isOfNodes: boolean): boolean {
  const sought = distinctKeyOf(value, isOfNodes);
  if (list.length < SHORT) return list.some((item) => distinctKeyOf(item, isOfNodes) === sought);
  const set = sets.get(list) ?? new Set(list.map((item) => distinctKeyOf(item, isOfNodes)));
  sets.set(list, set);
  return set.has(sought);
}
