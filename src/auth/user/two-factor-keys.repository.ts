import { Injectable } from '@nestjs/common';
import { SecretBox } from '../../platform/crypto/secret-box';
import { type Statement } from '../../platform/database/statement';
import { Statements } from '../../platform/database/statements';

/** Another key begins anew: no code of it was accepted yet. */
const SET: Statement = {
  name: 'two-factor-set',
  text: `insert into user_two_factor (user_id, sealed_key) values ($1, $2)
    on conflict (user_id) do update set sealed_key = excluded.sealed_key, last_step = null`,
};
const FIND: Statement = { name: 'two-factor-find', text: 'select sealed_key from user_two_factor where user_id = $1' };
/** `last_step` is the time step of the code that was accepted last: each is accepted once (RFC 6238, section 5.2). */
const TAKE_STEP: Statement = {
  name: 'two-factor-take-step',
  text: `update user_two_factor set last_step = $2
    where user_id = $1 and (last_step is null or last_step < $2) returning user_id`,
};

/** The keys of one-time codes. They are needed in clear to compute a code, so they are sealed and not hashed. */
@Injectable()
export class TwoFactorKeys {
  constructor(
    private readonly statements: Statements,
    private readonly box: SecretBox,
  ) {}

  /** Whether the key is another one than before. */
  async set(userId: string, key: string): Promise<boolean> {
    if ((await this.find(userId)) === key) return false;
    await this.statements.run(SET, [userId, this.box.seal(Buffer.from(key))]);
    return true;
  }

  async find(userId: string): Promise<string | undefined> {
    const row = await this.statements.runOne<{ sealed_key: Buffer }>(FIND, [userId]);
    return row === undefined ? undefined : this.box.open(row.sealed_key).toString();
  }

  /** Takes the code of a time step; false when it, or a later one, was taken before. */
  async takeStep(userId: string, step: number): Promise<boolean> {
    return (await this.statements.runOne(TAKE_STEP, [userId, step])) !== undefined;
  }
}
