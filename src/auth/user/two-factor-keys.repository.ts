import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, LessThan, type Repository } from 'typeorm';
import { SecretBox } from '../../platform/crypto/secret-box';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { UserTwoFactorEntity } from './user-two-factor.entity';

/** The keys of one-time codes. They are needed in clear to compute a code, so they are sealed and not hashed. */
@Injectable()
export class TwoFactorKeys {
  constructor(
    @InjectRepository(UserTwoFactorEntity) private readonly rows: Repository<UserTwoFactorEntity>,
    private readonly box: SecretBox,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Whether the key is another one than before. */
  async set(userId: string, key: string): Promise<boolean> {
    if ((await this.find(userId)) === key) return false;
    const sealedKey = this.box.seal(Buffer.from(key));
    await this.unitOfWork.bind(this.rows).upsert({ userId, sealedKey, lastStep: null }, ['userId']);
    return true;
  }

  async remove(userId: string): Promise<void> {
    await this.unitOfWork.bind(this.rows).delete({ userId });
  }

  async find(userId: string): Promise<string | undefined> {
    const row = await this.unitOfWork.bind(this.rows).findOneBy({ userId });
    return row === null ? undefined : this.box.open(row.sealedKey).toString();
  }

  /** Takes the code of a time step; false when it, or a later one, was taken before. */
  async takeStep(userId: string, step: number): Promise<boolean> {
    const rows = this.unitOfWork.bind(this.rows);
    const { affected } = await rows.update(
      [
        { userId, lastStep: IsNull() },
        { userId, lastStep: LessThan(step) },
      ],
      { lastStep: step },
    );
    return affected === 1;
  }
}
