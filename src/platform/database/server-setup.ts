import { Injectable } from '@nestjs/common';
import { type Statement } from './statement';
import { Statements } from './statements';
import { UnitOfWork } from './unit-of-work';

/**
 * Removes the lock timeout of the transaction. If several servers start together, the others must wait until the first
 * one is done, even on a slow machine.
 */
const BE_PATIENT: Statement = {
  name: 'server-setup-be-patient',
  text: `select set_config('lock_timeout', '0', true)`,
};

/**
 * Stores the digest of a setup, unless it is stored already. Its row is locked until the transaction ends, so a second
 * server waits and then finds the digest of the first server.
 */
const MARK: Statement = {
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
 * Runs setup work that a database needs once, and records it in a row. Replicas that start together wait for each other
 * at that row. Since the work runs only once, resources that an operator deleted later are not created again.
 */
@Injectable()
export class ServerSetup {
  constructor(
    private readonly statements: Statements,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Runs `work` and records it, in one transaction. Returns whether `work` ran in this call. */
  once(name: string, work: () => Promise<void>): Promise<boolean> {
    return this.whenChanged(name, null, work);
  }

  /** Like {@link once}, but `work` runs again when `digest` differs from the recorded digest. */
  async whenChanged(name: string, digest: string | null, work: () => Promise<void>): Promise<boolean> {
    const known = await this.statements.runOne<{ digest: string | null }>(READ_DIGEST, [name]);
    if (known?.digest === digest) return false;
    return this.unitOfWork.run(async () => {
      await this.statements.run(BE_PATIENT, []);
      if ((await this.statements.runOne(MARK, [name, digest])) === undefined) return false;
      await work();
      return true;
    });
  }
}
