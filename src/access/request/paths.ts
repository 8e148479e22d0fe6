/** Maximum number of values that a path in a policy may yield. */
const MAX_VALUES = 1000;

/** Returns the value at a path of member names and list indexes; undefined if there is none. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
  let found = value;
  for (const step of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, step)) return undefined;
    found = (found as Record<string, unknown>)[step];
  }
  return found;
}

/** Returns the values at a path, in order. At a list, the path goes on in each of its items. */
export function valuesAt(value: unknown, path: readonly string[]): readonly unknown[] {
  let found: unknown[] = [value].flat();
  for (const [at, step] of path.entries()) {
    const next: unknown[] = [];
    for (const one of found) {
      const below = valueAt(one, [step]);
      if (Array.isArray(below) && !isIndex(path[at + 1])) next.push(...(below as unknown[]));
      else if (below !== undefined) next.push(below);
      if (next.length > MAX_VALUES) return [];
    }
    found = next;
  }
  return found;
}

const isIndex = (step: string | undefined): boolean => step !== undefined && /^\d+$/.test(step);
