import {
  type JsonValue,
  JsonNumber,
  parseLosslessInSteps,
  printLosslessInSteps,
} from '../../src/platform/json/lossless';
import { atOnce } from '../../src/platform/time/steps';

export const parseLossless = (text: string): JsonValue => atOnce(parseLosslessInSteps(text));

export const printLossless = (value: JsonValue): string => atOnce(printLosslessInSteps(value));

/** Prints a value with keys sorted by UTF-16 unit: values are equal exactly if these texts are. */
export const canonicalText = (value: JsonValue): string => printLossless(sorted(value));

function sorted(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || value instanceof JsonNumber || !(value instanceof Map)) return value;
  const members = [...value].sort(([a], [b]) => (a < b ? -1 : 1));
  return new Map(members.map(([key, member]) => [key, sorted(member)] as const));
}
