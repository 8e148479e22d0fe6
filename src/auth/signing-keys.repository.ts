import { createPublicKey, generateKeyPair, randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type Repository } from 'typeorm';
import { SecretBox } from '../platform/crypto/secret-box';
import { UnitOfWork } from '../platform/database/unit-of-work';
import { SigningKeyEntity } from './signing-key.entity';

export interface SigningKey {
  readonly kid: string;
  readonly algorithm: 'RS256';
  /** PEM (PKCS #8). */
  readonly privateKey: string;
}

/** RSA 2048 with SHA-256: what every JWT library verifies. */
const MODULUS_BITS = 2048;

@Injectable()
export class SigningKeys {
  private current: Promise<SigningKey> | undefined;

  constructor(
    @InjectRepository(SigningKeyEntity) private readonly rows: Repository<SigningKeyEntity>,
    private readonly secrets: SecretBox,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Makes the first key pair; for the setup of a new database. */
  async create(): Promise<void> {
    const pair = await promisify(generateKeyPair)('rsa', { modulusLength: MODULUS_BITS });
    const privateKey = pair.privateKey.export({ type: 'pkcs8', format: 'pem' });
    await this.unitOfWork.bind(this.rows).insert({
      kid: randomUUID(),
      algorithm: 'RS256',
      publicKey: pair.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
      wrappedPrivateKey: this.secrets.seal(Buffer.from(privateKey)),
    });
  }

  /** The key that new tokens are signed with. */
  newest(): Promise<SigningKey> {
    this.current ??= this.load().catch((error: unknown) => {
      this.current = undefined;
      throw error;
    });
    return this.current;
  }

  /** Public keys as a JWK Set (RFC 7517). */
  async jwks(): Promise<{ keys: object[] }> {
    const rows = await this.rows.find({ order: { createdAt: 'DESC' } });
    return {
      keys: rows.map(({ kid, algorithm, publicKey }) => ({
        ...createPublicKey(publicKey).export({ format: 'jwk' }),
        kid,
        alg: algorithm,
        use: 'sig',
      })),
    };
  }

  private async load(): Promise<SigningKey> {
    const row = await this.unitOfWork.bind(this.rows).findOneOrFail({ where: {}, order: { createdAt: 'DESC' } });
    return { kid: row.kid, algorithm: row.algorithm, privateKey: this.secrets.open(row.wrappedPrivateKey).toString() };
  }
}
