/** A JSON object in the form of `JSON.parse`. */
export type PlainObject = Readonly<Record<string, unknown>>;

/** Whether a value is a JSON object, not an array, primitive or null. */
export const isObject = (value: unknown): value is PlainObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The objects in a list; none if the value is no list. */
export const objectsIn = (list: unknown): readonly PlainObject[] => (Array.isArray(list) ? list.filter(isObject) : []);

/** Only own members, since every object inherits a `constructor`. */
export const memberOf = (value: unknown, name: string): unknown =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
