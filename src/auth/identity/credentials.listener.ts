import { Injectable } from '@nestjs/common';
import { type Statement } from '../../platform/database/statement';
import { Statements } from '../../platform/database/statements';
import {
  OnResourceChange,
  type ResourceChange,
  type ResourceChangeListener,
} from '../../resource/hooks/resource-change';

const FORGET_CLIENT: Statement = {
  name: 'auth-forget-client',
  text: 'delete from client_secret where client_id = $1',
};
const FORGET_USER: Statement = {
  name: 'auth-forget-user',
  text: `with password as (delete from user_password where user_id = $1),
      second_factor as (delete from user_two_factor where user_id = $1)
    delete from user_login where user_id = $1`,
};

/** Deletes the secrets of a deleted User or Client, so that a later one with the same id does not inherit them. */
@Injectable()
@OnResourceChange({ types: ['User', 'Client'] })
export class CredentialsListener implements ResourceChangeListener {
  constructor(private readonly statements: Statements) {}

  async onChange({ type, id, current }: ResourceChange): Promise<void> {
    if (current === undefined) await this.statements.run(type === 'Client' ? FORGET_CLIENT : FORGET_USER, [id]);
  }
}
