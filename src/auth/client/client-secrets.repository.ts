import { createHash, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type Repository } from 'typeorm';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { ClientSecretEntity } from './client-secret.entity';

@Injectable()
export class ClientSecrets {
  constructor(
    @InjectRepository(ClientSecretEntity) private readonly rows: Repository<ClientSecretEntity>,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  async set(clientId: string, secret: string): Promise<void> {
    await this.unitOfWork.bind(this.rows).upsert({ clientId, secretHash: hashOf(secret) }, ['clientId']);
  }

  async remove(clientId: string): Promise<void> {
    await this.unitOfWork.bind(this.rows).delete({ clientId });
  }

  /** Whether one of `secrets` is the Client's; false for a Client without one. */
  async isRight(clientId: string, secrets: readonly string[]): Promise<boolean> {
    const row = await this.unitOfWork.bind(this.rows).findOneBy({ clientId });
    return row !== null && secrets.some((secret) => timingSafeEqual(row.secretHash, hashOf(secret)));
  }
}

const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();
