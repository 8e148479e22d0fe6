import { type Branch, type Compiled, type Variables } from './compiled';

/** Below this, looking through a list is cheaper than a set of it. */
const SHORT = 16;

/**
 * Remembers the values of a path that begins at `%resource` or `%context` for one evaluation: in `all(…)` or `where(…)` it would
 * be walked again for each item, which a large body makes quadratic.
 */
export function remembered(compiled: Compiled): Compiled {
  return { ...compiled, branches: compiled.branches.map(rememberedBranch) };
}

function rememberedBranch({ type, values }: Branch): Branch {
  const kept = new WeakMap<Variables, readonly unknown[]>();
  return {
    type,
    values: (focus, variables) => {
      const known = kept.get(variables) ?? values(focus, variables);
      kept.set(variables, known);
      return known;
    },
  };
}

const sets = new WeakMap<readonly unknown[], ReadonlySet<unknown>>();

/** Whether `list` holds `value`; objects are told apart by their text. A long list that comes again is looked up in a set. */
export function holds(list: readonly unknown[], value: unknown): boolean {
  const sought = keyOf(value);
  if (list.length < SHORT) return list.some((item) => keyOf(item) === sought);
  const set = sets.get(list) ?? new Set(list.map(keyOf));
  sets.set(list, set);
  return set.has(sought);
}

export function keyOf(value: unknown): unknown {
  return typeof value === 'object' ? JSON.stringify(value) : value;
}
