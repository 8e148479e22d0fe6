/** A JSON object as `JSON.parse` returns it. */
export type PlainObject = Readonly<Record<string, unknown>>;

/** Whether a value is a JSON object, and not an array, a primitive or null. */
export const isObject = (value: unknown): value is PlainObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the objects in a list; none if the value is not a list. */
export const objectsIn = (list: unknown): readonly PlainObject[] => (Array.isArray(list) ? list.filter(isObject) : []);

/**
 * Returns an own member of an object; undefined if there is none. Inherited members do not count, since every object
 * inherits a `constructor`.
 */
export const memberOf = (value: unknown, name: string): unknown =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
