import { Injectable } from '@nestjs/common';
import { type Statement } from './statement';
import { Statements } from './statements';
import { UnitOfWork } from './unit-of-work';

const MARK_DONE: Statement = {
  name: 'server-setup-mark',
  text: 'insert into server_setup (name) values ($1) on conflict do nothing returning name',
};

/** If several servers start together, all others wait until the first one is done, on a slow machine too. */
const BE_PATIENT: Statement = {
  name: 'server-setup-be-patient',
  text: `select set_config('lock_timeout', '0', true)`,
};

/** The row is locked until the transaction ends, so a second server finds the digest that the first one left. */
const MARK_DIGEST: Statement = {
  name: 'server-setup-digest',
  text: `insert into server_setup (name, digest) values ($1, $2)
    on conflict (name) do update set digest = excluded.digest, done_at = now()
    where server_setup.digest is distinct from excluded.digest returning name`,
};

const READ_DIGEST: Statement = {
  name: 'server-setup-read-digest',
  text: 'select digest from server_setup where name = $1',
};

/**
 * Runs work that a database needs once. Replicas that start together wait for each other on the row. Resources that an
 * operator deleted later are not created again.
 */
@Injectable()
export class ServerSetup {
  constructor(
    private readonly statements: Statements,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Runs `work` and records it, in one transaction; returns whether it ran now. */
  once(name: string, work: () => Promise<void>): Promise<boolean> {
    return this.marked(MARK_DONE, [name], work);
  }

  /** Like {@link once}, and again whenever the digest differs from the last one. */
  async whenChanged(name: string, digest: string, work: () => Promise<void>): Promise<boolean> {
    const known = await this.statements.runOne<{ digest: string | null }>(READ_DIGEST, [name]);
    if (known?.digest === digest) return false;
    return this.marked(MARK_DIGEST, [name, digest], work);
  }

  private marked(mark: Statement, values: readonly string[], work: () => Promise<void>): Promise<boolean> {
    return this.unitOfWork.run(async () => {
      await this.statements.run(BE_PATIENT, []);
      if ((await this.statements.runOne(mark, values)) === undefined) return false;
      await work();
      return true;
    });
  }
}
