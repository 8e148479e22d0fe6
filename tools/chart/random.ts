import { LosslessNumber } from 'lossless-json';

/**
 * Repeatable random numbers (mulberry32): the same seed gives the same numbers on every machine. Only +, *, / and bit
 * operations are used, which IEEE 754 and ECMAScript define exactly; functions like `Math.log` may differ between
 * engines.
 */
export class Random {
  constructor(private state: number) {}

  /** Draws from [0, 1). */
  fraction(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Draws a whole number; both ends are possible. */
  integer(least: number, most: number): number {
    return least + Math.floor(this.fraction() * (most - least + 1));
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  pick<T>(choices: readonly T[]): T {
    const choice = choices[this.integer(0, choices.length - 1)];
    if (choice === undefined) throw new RangeError('There is nothing to pick from');
    return choice;
  }

  /** Draws a bell-shaped value at most two `spread` from `middle`: the sum of four uniform draws (Irwin-Hall). */
  around(middle: number, spread: number): number {
    return middle + spread * (this.fraction() + this.fraction() + this.fraction() + this.fraction() - 2);
  }
}

/** Formats a FHIR decimal with trailing zeros, as an instrument reports it: 5.4 with two digits is `5.40`. */
export function decimal(value: number, digits: number): LosslessNumber {
  return new LosslessNumber(value.toFixed(digits));
}
