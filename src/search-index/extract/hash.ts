import { halfSipHash53, type HashKey } from './half-siphash';
import { type Unit } from './search-rows';

let databaseKey: HashKey | undefined;

/**
 * Names the key under which the rows of the database are hashed, before the first of them is read or written.
 * @throws Error for a second key: one process serves one database.
 */
export function useHashKey(key: HashKey): void {
  const { low, high } = databaseKey ?? key;
  if (low !== key.low || high !== key.high)
    throw new Error('The rows of another database are hashed under another key.');
  databaseKey = key;
}

/** Values come from whoever writes: without the key they could be chosen so that one is found in place of another. */
function rowHash(text: string, seed = 0): number {
  if (databaseKey === undefined) throw new Error('The key of the search rows is not loaded yet.');
  return halfSipHash53(text, seed, databaseKey);
}

/**
 * Hashes text to a whole number from 1 to 2^53 - 1: two 32-bit multiplicative lanes over the UTF-16 code units, 53 bits of
 * which are kept, so that no BigInt is needed. Different seeds give unrelated hashes of one text.
 * Stored search rows hold numbers of parameters made by it: the function must never change. It resists accidents, not attacks.
 */
export function hash53(text: string, seed = 0): number {
  // The seed enters the lanes differently, so that no change of the text can undo a change of the seed in both.
  let a = 0xdeadbeef ^ seed;
  let b = 0x41c6ce57 ^ Math.imul(seed, 0x9e3779b1);
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    a = Math.imul(a ^ unit, 0x9e3779b1);
    b = Math.imul(b ^ unit, 0x5f356495);
  }
  a = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ Math.imul(b ^ (b >>> 13), 0xc2b2ae35);
  b = Math.imul(b ^ (b >>> 16), 0x85ebca6b) ^ Math.imul(a ^ (a >>> 13), 0xc2b2ae35);
  return (b & 0x1fffff) * 0x1_0000_0000 + (a >>> 0) || 1;
}

/** The number of a search parameter in stored rows, from 1 to 2^31 - 1. Two parameters may meet: the registry refuses that. */
export function parameterIdOf(type: string, code: string): number {
  return (hash53(`${type}.${code}`) % 0x7fff_ffff) + 1;
}

/** The hash of one value of one token or uri parameter. */
export function tokenHashOf(parameterId: number, value: string): number {
  return rowHash(value, parameterId);
}

/** The hash of a pair of values of one composite parameter. */
export function pairHashOf(parameterId: number, first: string, second: string): number {
  return rowHash(`${first.length}:${first}${second}`, parameterId);
}

/** The hash of a text whose parameter, if any, stands in another column. */
export function plainHashOf(text: string): number {
  return rowHash(text);
}

/** The hash of a unit as a signed 32-bit number; 0 stands for "no unit" alone. */
export function unitHashOf(unit: Unit | undefined): number {
  if (unit === undefined) return 0;
  return rowHash(JSON.stringify([unit.system ?? '', unit.code ?? '', unit.unit ?? ''])) | 0 || 1;
}

/** The hash of a reference key such as `Patient/p7`. */
export function targetHashOf(key: string): number {
  return rowHash(key);
}

/** The hash of a token's system as a signed 32-bit number; 0 stands for "no system" alone. */
export function systemHashOf(system: string | undefined): number {
  return system === undefined || system === '' ? 0 : rowHash(system) | 0 || 1;
}
