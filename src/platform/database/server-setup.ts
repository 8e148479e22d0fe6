import { Injectable } from '@nestjs/common';
import { type Statement } from './statement';
import { Statements } from './statements';
import { UnitOfWork } from './unit-of-work';

const MARK_DONE: Statement = {
  name: 'server-setup-mark',
  text: 'insert into server_setup (name) values ($1) on conflict do nothing returning name',
};

/**
 * Does what a database needs once in its life. Replicas that start together wait for each other on the row, and what
 * an operator deleted later does not come back.
 */
@Injectable()
export class ServerSetup {
  constructor(
    private readonly statements: Statements,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Runs `work` in one transaction with the mark that it is done; tells whether it ran now. */
  once(name: string, work: () => Promise<void>): Promise<boolean> {
    return this.unitOfWork.run(async () => {
      if ((await this.statements.runOne(MARK_DONE, [name])) === undefined) return false;
      await work();
      return true;
    });
  }
}
