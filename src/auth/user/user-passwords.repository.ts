import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type Repository } from 'typeorm';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { UserPasswordEntity } from './user-password.entity';

@Injectable()
export class UserPasswords {
  constructor(
    @InjectRepository(UserPasswordEntity) private readonly rows: Repository<UserPasswordEntity>,
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
  async lock(userId: string): Promise<UserPasswordEntity | undefined> {
    const lock = { mode: 'pessimistic_write' } as const;
    return (await this.unitOfWork.bind(this.rows).findOne({ where: { userId }, lock })) ?? undefined;
  }

  async find(userId: string): Promise<UserPasswordEntity | undefined> {
    return (await this.unitOfWork.bind(this.rows).findOneBy({ userId })) ?? undefined;
  }
}
