import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type Repository } from 'typeorm';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { type Statement } from '../../platform/database/statement';
import { Statements } from '../../platform/database/statements';
import { UserPasswordEntity } from './user-password.entity';

const FIND_PASSWORD: Statement = {
  name: 'user-find-password',
  text: 'select password_id as "passwordId", password_hash as "passwordHash" from user_password where user_id = $1',
};

const LOCK_PASSWORD: Statement = { name: 'user-lock-password', text: `${FIND_PASSWORD.text} for update` };

export interface StoredPassword {
  readonly passwordId: string;
  readonly passwordHash: string;
}

@Injectable()
export class UserPasswords {
  constructor(
    @InjectRepository(UserPasswordEntity) private readonly rows: Repository<UserPasswordEntity>,
    private readonly statements: Statements,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Stores the hash of a new password, under a new id. */
  async set(userId: string, passwordHash: string): Promise<void> {
    await this.unitOfWork.bind(this.rows).upsert({ userId, passwordId: randomUUID(), passwordHash }, ['userId']);
  }

  /** Replaces the hash by another one of the same password, unless the password has changed meanwhile. */
  async replaceHash(userId: string, passwordId: string, passwordHash: string): Promise<void> {
    await this.unitOfWork.bind(this.rows).update({ userId, passwordId }, { passwordHash });
  }

  /** Like {@link find}, but also blocks changes of the password until the transaction ends. */
  lock(userId: string): Promise<StoredPassword | undefined> {
    return this.statements.runOne<StoredPassword>(LOCK_PASSWORD, [userId]);
  }

  find(userId: string): Promise<StoredPassword | undefined> {
    return this.statements.runOne<StoredPassword>(FIND_PASSWORD, [userId]);
  }
}
