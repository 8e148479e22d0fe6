import { ServiceError } from '../../platform/errors/service-error';
import { type Steps } from '../../platform/time/steps';
import {
  type DateRow,
  type NumberRow,
  type ReferenceRow,
  type StringRow,
  type TokenRow,
  type Unit,
  type UnitRow,
} from './search-rows';
import { type Visit } from '../../fhirpath/fhirpath';
import { type RowHashes } from './row-hashes';
import { Scope } from './scope';

/**
 * Maximum number of pairs of composites that one resource may give. A thousand codings paired with a thousand others
 * would give a million rows from a small body.
 */
const MAX_PAIRS = 20_000;

/**
 * The same bound for resources that are already stored. It is higher, since a job must be able to reindex them even if
 * composites were added after the write.
 */
export const MAX_STORED_PAIRS = 10 * MAX_PAIRS;

export class Extraction extends Scope {
  readonly tokens: TokenRow[] = [];
  readonly references: ReferenceRow[] = [];
  readonly dates: DateRow[] = [];
  readonly numbers: NumberRow[] = [];
  readonly strings: StringRow[] = [];
  readonly units: UnitRow[] = [];
  patientHash = 0;
  /** The presence mask: a bit for each search parameter with a value. */
  present = 0n;
  private readonly postponed: Steps<void>[] = [];
  private readonly seen = new Set<string>();
  private pairsLeft: number;

  constructor(
    resource: Readonly<Record<string, unknown>>,
    readonly hashes: RowHashes,
    baseUrl: string,
    private readonly maxPairs = MAX_PAIRS,
  ) {
    super(resource, baseUrl);
    this.pairsLeft = maxPairs;
  }

  addToken(hash: number, systemHash: number): void {
    if (this.isNew(`${hash}|${systemHash}`)) this.tokens.push({ hash, systemHash });
  }

  addReference(targetHash: number, parameterId: number): void {
    if (this.isNew(`${targetHash}>${parameterId}`)) this.references.push({ targetHash, parameterId });
  }

  addDate(parameterId: number, low: number, high: number): void {
    if (this.isNew(`${parameterId}:${low}:${high}`)) this.dates.push({ parameterId, low, high });
  }

  addNumber(parameterId: number, codeHash: number, value: number, unit?: Unit): void {
    const unitHash = this.hashes.ofUnit(unit);
    if (!this.isNew(`${parameterId}#${codeHash}#${value}#${unitHash}`)) return;
    this.numbers.push({ parameterId, codeHash, value, unitHash });
    if (unit !== undefined && this.isNew(`u${unitHash}`)) this.units.push({ unitHash, ...unit });
  }

  addString(parameterId: number, value: string): void {
    if (!this.isNew(`${parameterId}"${value}`)) return;
    this.strings.push({ parameterId, valueHash: this.hashes.ofText(value), value });
  }

  /**
   * Counts pairs of composites.
   * @throws ServiceError 'unprocessable' if the resource gives too many pairs
   */
  spendPairs(count: number): void {
    this.pairsLeft -= count;
    if (this.pairsLeft >= 0) return;
    throw new ServiceError(
      'resource-invalid',
      `Composite search parameters pair more than ${this.maxPairs} values of this resource: divide it, or give its items fewer codings.`,
    );
  }

  /** Leaves long work to the end of the extraction, where it can pause; a visit of a value cannot. */
  postpone(work: Steps<void>): void {
    this.postponed.push(work);
  }

  *finish(): Steps<void> {
    for (const work of this.postponed) yield* work;
  }

  private isNew(row: string): boolean {
    if (this.seen.has(row)) return false;
    this.seen.add(row);
    return true;
  }
}

/** Turns the values of one parameter into rows. A value of an unexpected shape gives no row and no error. */
export type RowWriter = Visit<Extraction>;
