import { TooCostly } from '../../platform/errors/too-costly';

/** Most values of one request that a schema may visit. */
const MAX_VALUES = 100_000;

/**
 * Copies a value without empty values (`[]`, `{}`, `""`, null), including values that thereby become empty: `required`
 * needs content.
 * @throws TooCostly
 */
export function withoutEmpty(value: unknown): unknown {
  let left = MAX_VALUES;
  const strip = (one: unknown): unknown => {
    if (--left < 0) throw new TooCostly('The request is too large for a schema');
    if (Array.isArray(one)) {
      const items = one.map(strip).filter((item) => item !== undefined);
      return items.length === 0 ? undefined : items;
    }
    if (typeof one === 'object' && one !== null) {
      const members = Object.entries(one)
        .map(([name, below]) => [name, strip(below)] as const)
        .filter(([, below]) => below !== undefined);
      return members.length === 0 ? undefined : Object.fromEntries(members);
    }
    return one === '' || one === null ? undefined : one;
  };
  return strip(value) ?? {};
}
