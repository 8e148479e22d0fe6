import { Injectable } from '@nestjs/common';
import { type Statement } from '../platform/database/statement';
import { Statements } from '../platform/database/statements';
import { UnitOfWork } from '../platform/database/unit-of-work';
import { type UnitRow } from '../search-index/extract/search-rows';

const READ_HASHES: Statement = { name: 'search-unit-hashes', text: 'select unit_hash from search_unit' };

/**
 * Remembers units that are in the dictionary `search_unit`, so that writes need not insert them: an insert that repeats
 * a unit takes 18 % more CPU of PostgreSQL. A unit is remembered when it was read from the dictionary: a unit that can
 * be read is committed.
 */
@Injectable()
export class KnownUnits {
  private readonly hashes = new Set<number>();
  private reading: Promise<void> | undefined;

  constructor(
    private readonly statements: Statements,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /**
   * The units that a write must insert. They are also looked up in the background, so that the next write need not
   * insert them.
   */
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
