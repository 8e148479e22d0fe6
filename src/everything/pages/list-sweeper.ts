import { Injectable } from '@nestjs/common';
import { Background, type BackgroundTask } from '../../platform/background/background';
import { Statements } from '../../platform/database/statements';
import { SWEEP } from './page-statements';

/** Deletes expired lists of pages of `$everything`. A delay is harmless: an expired list is refused anyway. */
@Injectable()
@Background({ task: 'sweep of page lists', interval: () => 60_000 })
export class ListSweeper implements BackgroundTask {
  constructor(private readonly statements: Statements) {}

  async step(): Promise<undefined> {
    await this.statements.run(SWEEP, []);
  }
}
