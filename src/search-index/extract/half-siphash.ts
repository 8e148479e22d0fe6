/** A secret key of 64 bits, as two 32-bit integers. */
export interface HashKey {
  readonly low: number;
  readonly high: number;
}

/**
 * Hashes a text with a key: HalfSipHash-2-4 with 64 bits of output (https://github.com/veorq/SipHash) over the four
 * bytes of `seed` and the UTF-16 code units of `text`, both little endian. 53 bits of the output are kept, so that no
 * BigInt is needed. An attacker without the key cannot construct texts with equal hashes.
 * @returns a whole number from 1 to 2^53 - 1
 */
export function halfSipHash53(text: string, seed: number, { low, high }: HashKey): number {
  // One loop over local variables, since it runs for each index row. Four zero words give the eight final rounds.
  const wordCount = (text.length >> 1) + 2;
  let a = low | 0;
  let b = high ^ 0xee;
  let c = 0x6c796765 ^ low;
  let d = 0x74656462 ^ high;
  let first = 0;
  for (let step = 0; step < wordCount + 4; step++) {
    let word = 0;
    if (step === 0) word = seed;
    else if (step < wordCount - 1) word = text.charCodeAt(2 * step - 2) | (text.charCodeAt(2 * step - 1) << 16);
    else if (step === wordCount - 1) word = lastWord(text);
    else if (step === wordCount) c ^= 0xee;
    else if (step === wordCount + 2) {
      first = b ^ d;
      b ^= 0xdd;
    }
    d ^= word;
    for (let round = 0; round < 2; round++) {
      a = (a + b) | 0;
      b = ((b << 5) | (b >>> 27)) ^ a;
      a = (a << 16) | (a >>> 16);
      c = (c + d) | 0;
      d = ((d << 8) | (d >>> 24)) ^ c;
      a = (a + d) | 0;
      d = ((d << 7) | (d >>> 25)) ^ a;
      c = (c + b) | 0;
      b = ((b << 13) | (b >>> 19)) ^ c;
      c = (c << 16) | (c >>> 16);
    }
    a ^= word;
  }
  return ((b ^ d) & 0x1fffff) * 0x1_0000_0000 + (first >>> 0) || 1;
}

/**
 * The last word: the code unit that is left after the pairs, if there is one, and the number of bytes with the seed.
 */
function lastWord(text: string): number {
  const rest = text.length % 2 === 0 ? 0 : text.charCodeAt(text.length - 1);
  return ((4 + 2 * text.length) << 24) | rest;
}
