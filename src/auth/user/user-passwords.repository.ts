import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type Repository } from 'typeorm';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { UserPasswordEntity } from './user-password.entity';

export interface StoredPassword {
  readonly passwordId: string;
  readonly passwordHash: string;
}

@Injectable()
export class UserPasswords {
  constructor(
    @InjectRepository(UserPasswordEntity) private readonly rows: Repository<UserPasswordEntity>,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Stores the hash of a new password. */
  async set(userId: string, passwordHash: string): Promise<void> {
    await this.unitOfWork.bind(this.rows).upsert({ userId, passwordId: randomUUID(), passwordHash }, ['userId']);
  }

  /** Stores another hash of the same password, unless it was changed meanwhile. */
  async replaceHash(userId: string, passwordId: string, passwordHash: string): Promise<void> {
    await this.unitOfWork.bind(this.rows).update({ userId, passwordId }, { passwordHash });
  }

  async remove(userId: string): Promise<void> {
    await this.unitOfWork.bind(this.rows).delete({ userId });
  }

  async find(userId: string): Promise<StoredPassword | undefined> {
    const row = await this.unitOfWork.bind(this.rows).findOneBy({ userId });
    return row === null ? undefined : { passwordId: row.passwordId, passwordHash: row.passwordHash };
  }
}
