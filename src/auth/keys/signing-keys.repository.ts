import { createPublicKey, generateKeyPair, randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { Injectable } from '@nestjs/common';
import { SecretBox } from '../../platform/crypto/secret-box';
import { Statements } from '../../platform/database/statements';
import {
  ADD_KEY,
  FIND_NEXT_KEY,
  FIND_SIGNING_KEY,
  HOLD_KEYS,
  KEEP_ONLY,
  LIST_KEYS,
  LIST_SUPERSEDED,
  LOCK_ROTATION,
  REMOVE_KEYS,
} from './signing-key-statements';

export interface SigningKey {
  readonly kid: string;
  readonly algorithm: 'RS256';
  /** PEM (PKCS #8). */
  readonly privateKey: string;
}

/** A key that signs from a time on. */
export interface PublishedKey {
  readonly kid: string;
  readonly signsFrom: Date;
}

interface KeyRow {
  readonly kid: string;
  readonly algorithm: 'RS256';
  readonly public_key: string;
  readonly wrapped_private_key: Buffer;
  readonly signs_from: Date;
}

/** RSA 2048 with SHA-256: what every JWT library verifies. */
const MODULUS_BITS = 2048;

/** The key pairs of JWTs. Which one signs is asked of the database at each token: replicas change keys at once. */
@Injectable()
export class SigningKeys {
  private opened: SigningKey | undefined;

  constructor(
    private readonly statements: Statements,
    private readonly secrets: SecretBox,
  ) {}

  /** Makes a key pair that is published at once and signs after a time. */
  async create(signsInSeconds = 0): Promise<PublishedKey> {
    const pair = await promisify(generateKeyPair)('rsa', { modulusLength: MODULUS_BITS });
    const privateKey = pair.privateKey.export({ type: 'pkcs8', format: 'pem' });
    const row = await this.statements.runOne<KeyRow>(ADD_KEY, [
      randomUUID(),
      'RS256',
      pair.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
      this.secrets.seal(Buffer.from(privateKey)),
      signsInSeconds,
    ]);
    if (row === undefined) throw new Error('The new key was not stored');
    return { kid: row.kid, signsFrom: row.signs_from };
  }

  /** The key that new tokens are signed with; it is not withdrawn before the open unit of work is over. */
  async signing(): Promise<SigningKey> {
    await this.statements.run(HOLD_KEYS, []);
    const row = await this.statements.runOne<KeyRow>(FIND_SIGNING_KEY, []);
    if (row === undefined) throw new Error('There is no signing key');
    if (this.opened?.kid !== row.kid) {
      const privateKey = this.secrets.open(row.wrapped_private_key).toString();
      this.opened = { kid: row.kid, algorithm: row.algorithm, privateKey };
    }
    return this.opened;
  }

  /** The key that is published and does not sign yet. */
  async next(): Promise<PublishedKey | undefined> {
    const row = await this.statements.runOne<KeyRow>(FIND_NEXT_KEY, []);
    return row === undefined ? undefined : { kid: row.kid, signsFrom: row.signs_from };
  }

  /** Of two that change the keys, the second waits for the first, until the open unit of work is over. */
  async lock(): Promise<void> {
    await this.statements.run(LOCK_ROTATION, []);
  }

  /** Keys that another one has taken over from. */
  async superseded(): Promise<string[]> {
    return (await this.statements.run<KeyRow>(LIST_SUPERSEDED, [])).map(({ kid }) => kid);
  }

  async remove(kids: readonly string[]): Promise<void> {
    if (kids.length > 0) await this.statements.run(REMOVE_KEYS, [kids]);
  }

  /** Removes all keys but one, and tells which. */
  async keepOnly(kid: string): Promise<string[]> {
    return (await this.statements.run<KeyRow>(KEEP_ONLY, [kid])).map((row) => row.kid);
  }

  /** Public keys as a JWK Set (RFC 7517), those included that do not sign yet or any more. */
  async jwks(): Promise<{ keys: object[] }> {
    const rows = await this.statements.run<KeyRow>(LIST_KEYS, []);
    return {
      keys: rows.map(({ kid, algorithm, public_key: publicKey }) => ({
        ...createPublicKey(publicKey).export({ format: 'jwk' }),
        kid,
        alg: algorithm,
        use: 'sig',
      })),
    };
  }
}
