import { halfSipHash53, type HashKey } from './half-siphash';
import { type Unit } from './search-rows';

/**
 * Computes the hashes in the index rows of one database. They need a secret key, since callers choose the values:
 * without it, a caller could construct a value whose hash equals that of another.
 */
export class RowHashes {
  constructor(private readonly key: HashKey) {}

  /** The hash of one value of one token or uri parameter. */
  ofToken(parameterId: number, value: string): number {
    return halfSipHash53(value, parameterId, this.key);
  }

  /** The hash of a pair of values of one composite parameter. */
  ofPair(parameterId: number, first: string, second: string): number {
    return halfSipHash53(`${first.length}:${first}${second}`, parameterId, this.key);
  }

  /** The hash of a text. Another column of the row holds its parameter, if it has one. */
  ofText(text: string): number {
    return halfSipHash53(text, 0, this.key);
  }

  /** The hash of a reference key such as `Patient/p7`. */
  ofTarget(key: string): number {
    return this.ofText(key);
  }

  /** The hash of a unit, as a signed 32-bit number. Only the absence of a unit has the hash 0. */
  ofUnit(unit: Unit | undefined): number {
    if (unit === undefined) return 0;
    return this.ofText(JSON.stringify([unit.system ?? '', unit.code ?? '', unit.unit ?? ''])) | 0 || 1;
  }

  /** The hash of a token's system, as a signed 32-bit number. Only the absence of a system has the hash 0. */
  ofSystem(system: string | undefined): number {
    return system === undefined || system === '' ? 0 : this.ofText(system) | 0 || 1;
  }
}
