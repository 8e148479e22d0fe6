/**
 * Hashes a text to a whole number from 1 to 2^53 - 1, by two 32-bit multiplications over its UTF-16 code units. 53 bits
 * are kept, so that no BigInt is needed. Different seeds give unrelated hashes of one text. Stored rows hold numbers of
 * parameters that this function made, so it must never change. It protects against accidental collisions, but not
 * against attacks.
 */
export function hash53(text: string, seed = 0): number {
  // The seed enters `a` and `b` differently, so that no change of the text can undo a change of the seed in both.
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

/**
 * The number of a search parameter in stored rows, from 1 to 2^31 - 1. The registry refuses two parameters with the
 * same number.
 */
export function parameterIdOf(type: string, code: string): number {
  return (hash53(`${type}.${code}`) % 0x7fff_ffff) + 1;
}
