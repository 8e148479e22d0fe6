import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type Repository } from 'typeorm';
import { UnitOfWork } from '../platform/database/unit-of-work';
import { UserPasswordEntity } from './user-password.entity';

@Injectable()
export class UserPasswords {
  constructor(
    @InjectRepository(UserPasswordEntity) private readonly rows: Repository<UserPasswordEntity>,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  async set(userId: string, passwordHash: string): Promise<void> {
    await this.unitOfWork.bind(this.rows).upsert({ userId, passwordHash }, ['userId']);
  }

  async remove(userId: string): Promise<void> {
    await this.unitOfWork.bind(this.rows).delete({ userId });
  }

  async find(userId: string): Promise<string | undefined> {
    return (await this.unitOfWork.bind(this.rows).findOneBy({ userId }))?.passwordHash;
  }
}
