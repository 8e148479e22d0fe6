/** A JSON object as `JSON.parse` makes it. */
export type PlainObject = Readonly<Record<string, unknown>>;

/** Tells a JSON object from arrays, primitives and null. */
export const isObject = (value: unknown): value is PlainObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The objects of a list; none where it is no list. */
export const objectsIn = (list: unknown): readonly PlainObject[] => (Array.isArray(list) ? list.filter(isObject) : []);

/** Own members only: every object has a `constructor`. */
export const memberOf = (value: unknown, name: string): unknown =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
