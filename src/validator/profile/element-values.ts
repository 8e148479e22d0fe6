import { isObject, type PlainObject } from '../../platform/json/plain-object';

export interface ElementValue {
  readonly value: unknown;
  /** The type in the key of a choice (`Quantity` for `valueQuantity`); undefined for other elements. */
  readonly choiceType: string | undefined;
  readonly index: number | undefined;
}

/** A value without a key: a resource, an extension, a part of a pattern. */
export const bareValue = (value: unknown): ElementValue => ({ value, choiceType: undefined, index: undefined });

/**
 * The values of an element of an object; the name of a choice is `value[x]`. A primitive that has only extensions is a
 * value too.
 */
export function valuesOfElement(owner: unknown, name: string): readonly ElementValue[] {
  if (!isObject(owner)) return [];
  if (!name.endsWith('[x]')) return valuesAt(owner, name, undefined);
  const stem = name.slice(0, -3);
  const keys = new Set(
    Object.keys(owner)
      .map((key) => key.replace(/^_/, ''))
      .filter((key) => key.startsWith(stem) && /^[A-Z]/.test(key.slice(stem.length))),
  );
  return [...keys].flatMap((key) => valuesAt(owner, key, key.slice(stem.length)));
}

function valuesAt(owner: PlainObject, key: string, choiceType: string | undefined): readonly ElementValue[] {
  const value = owner[key] ?? owner[`_${key}`];
  if (value === undefined) return [];
  if (!Array.isArray(value)) return [{ value: owner[key], choiceType, index: undefined }];
  return value.map((item: unknown, index) => ({ value: item, choiceType, index }));
}

/**
 * Whether `value` contains all that `pattern` contains (http://hl7.org/fhir/R4/elementdefinition.html, "pattern[x]").
 */
export function matchesPattern(value: unknown, pattern: unknown): boolean {
  if (Array.isArray(pattern))
    return Array.isArray(value) && pattern.every((part) => value.some((item) => matchesPattern(item, part)));
  if (!isObject(pattern)) return value === pattern;
  return isObject(value) && Object.entries(pattern).every(([key, part]) => matchesPattern(value[key], part));
}
