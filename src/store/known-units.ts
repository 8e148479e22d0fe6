import { Injectable } from '@nestjs/common';
import { type Statement } from '../platform/database/statement';
import { Statements } from '../platform/database/statements';
import { UnitOfWork } from '../platform/database/unit-of-work';
import { type UnitRow } from '../search-index/extract/search-rows';

const READ_HASHES: Statement = { name: 'search-unit-hashes', text: 'select unit_hash from search_unit' };

/**
 * The units that the dictionary is known to hold, so that writes need not bring them again. A unit counts as known once
 * it was read back: it then has been committed, by whomever.
 */
@Injectable()
export class KnownUnits {
  private readonly hashes = new Set<number>();
  private reading: Promise<void> | undefined;

  constructor(
    private readonly statements: Statements,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** The units that a write has to bring along; looks for them in the background, to spare the next one. */
  unknownAmong(units: readonly UnitRow[]): readonly UnitRow[] {
    const unknown = units.filter(({ unitHash }) => !this.hashes.has(unitHash));
    if (unknown.length > 0) this.unitOfWork.afterCommit(() => this.read());
    return unknown;
  }

  private read(): Promise<void> {
    this.reading ??= this.readHashes().finally(() => (this.reading = undefined));
    return this.reading;
  }

  private async readHashes(): Promise<void> {
    const rows = await this.statements.run<{ unit_hash: number }>(READ_HASHES, []);
    for (const { unit_hash: hash } of rows) this.hashes.add(hash);
  }
}
