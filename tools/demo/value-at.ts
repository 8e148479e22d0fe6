import { BrokenPromise } from './broken-promise';

/** The value at a path of member names and indexes; `undefined` if absent. */
export function valueAt(json: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (value, step) =>
      typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[step] : undefined,
    json,
  );
}

/** @throws BrokenPromise when there is no string at the path. */
export function stringAt(json: unknown, ...path: readonly (string | number)[]): string {
  const value = valueAt(json, ...path);
  if (typeof value !== 'string') throw new BrokenPromise(`the answer has a string at ${path.join('.')}`);
  return value;
}

/** @throws BrokenPromise when there is no array at the path. */
export function listAt(json: unknown, ...path: readonly (string | number)[]): readonly unknown[] {
  const value = valueAt(json, ...path);
  if (!Array.isArray(value)) throw new BrokenPromise(`the answer has a list at ${path.join('.') || 'its root'}`);
  return value;
}

/** Formats a value for people: strings unchanged, anything else as JSON, undefined as an empty text. */
export function shown(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
