import { TooCostly } from '../../platform/errors/too-costly';

/** Maximum number of values in a request that is validated by a schema. */
const MAX_VALUES = 100_000;

/**
 * Copies a value without empty values (`[]`, `{}`, `""`, null), and without values that become empty by that. So a
 * member named in `required` must have content.
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
