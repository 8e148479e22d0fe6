import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject, randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { Injectable } from '@nestjs/common';
import { SecretBox } from '../../platform/crypto/secret-box';
import { KEY_ROTATION_LOCK } from '../../platform/database/advisory-locks';
import { type Statement } from '../../platform/database/statement';
import { Statements } from '../../platform/database/statements';
import { assertOpenable, FIND_SIGNING_KEY, FIND_USED_KEYS } from './signing-key-check';

const LOCK_ROTATION: Statement = {
  name: 'signing-key-lock-rotation',
  text: `select pg_advisory_xact_lock(${KEY_ROTATION_LOCK})`,
};

/**
 * A shared lock that blocks the rotation of keys until the transaction ends. So the key that signs a token cannot be
 * withdrawn before the token is stored.
 */
const HOLD_KEYS: Statement = {
  name: 'signing-key-hold',
  text: `select pg_advisory_xact_lock_shared(${KEY_ROTATION_LOCK})`,
};

/**
 * Adds a key that signs $5 seconds from now. The database clock counts, so that all replicas change keys at the same
 * time.
 */
const ADD_KEY: Statement = {
  name: 'signing-key-add',
  text: `insert into signing_key (kid, algorithm, public_key, wrapped_private_key, signs_from)
    values ($1, $2, $3, $4, clock_timestamp() + make_interval(secs => $5::float8)) returning kid, signs_from as "signsFrom"`,
};

const LIST_KEYS: Statement = {
  name: 'signing-key-list',
  text: 'select kid, algorithm, public_key from signing_key order by signs_from desc, kid',
};

const FIND_NEXT_KEY: Statement = {
  name: 'signing-key-find-next',
  text: `select kid, signs_from as "signsFrom" from signing_key
    where signs_from > clock_timestamp() order by signs_from limit 1`,
};

const REMOVE_SUPERSEDED: Statement = {
  name: 'signing-key-remove-superseded',
  text: `delete from signing_key where kid <> all($1::text[]) and kid in (
      select kid from signing_key where signs_from <= clock_timestamp() order by signs_from desc, kid offset 1)
    returning kid`,
};

const KEEP_ONLY: Statement = {
  name: 'signing-key-keep-only',
  text: 'delete from signing_key where kid <> $1 returning kid',
};

export interface SigningKey {
  readonly kid: string;
  readonly algorithm: 'RS256';
  /** Parsed once, since parsing a PEM text takes as long as a signature. */
  readonly privateKey: KeyObject;
}

/** A new key pair in PEM format (SPKI, PKCS #8). */
export interface KeyPair {
  readonly publicKey: string;
  readonly privateKey: string;
}

/** A published key, and the time from which it signs. */
export interface PublishedKey {
  readonly kid: string;
  readonly signsFrom: Date;
}

interface KeyRow {
  readonly kid: string;
  readonly algorithm: 'RS256';
  readonly public_key: string;
  readonly wrapped_private_key: Buffer;
}

/** The key length. Every JWT library can verify RSA 2048 with SHA-256. */
const MODULUS_BITS = 2048;

/**
 * Stores the key pairs that sign JWTs. The signing key is read from the database for each token, so that all replicas
 * change keys at the same time.
 */
@Injectable()
export class SigningKeys {
  private opened: SigningKey | undefined;

  constructor(
    private readonly statements: Statements,
    private readonly secrets: SecretBox,
  ) {}

  /** Makes a key pair, which may take seconds of CPU: call it before {@link lock}, since logins wait for that lock. */
  async generate(): Promise<KeyPair> {
    const pair = await promisify(generateKeyPair)('rsa', { modulusLength: MODULUS_BITS });
    return {
      publicKey: pair.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
      privateKey: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    };
  }

  async add({ publicKey, privateKey }: KeyPair, signsInSeconds = 0): Promise<PublishedKey> {
    const sealed = this.secrets.seal(Buffer.from(privateKey));
    const row = [randomUUID(), 'RS256', publicKey, sealed, signsInSeconds];
    const published = await this.statements.runOne<PublishedKey>(ADD_KEY, row);
    if (published === undefined) throw new Error('The new key was not stored');
    return published;
  }

  /** Returns the key that signs new tokens. The key cannot be withdrawn before the open unit of work ends. */
  async signing(): Promise<SigningKey> {
    await this.statements.run(HOLD_KEYS, []);
    const row = await this.statements.runOne<KeyRow>(FIND_SIGNING_KEY, []);
    if (row === undefined) throw new Error('There is no signing key');
    if (this.opened?.kid !== row.kid) {
      const privateKey = createPrivateKey(this.secrets.open(row.wrapped_private_key));
      this.opened = { kid: row.kid, algorithm: row.algorithm, privateKey };
    }
    return this.opened;
  }

  /**
   * Repeats the check before the migrations: of two servers that start together on a new database, the other one may
   * have created the key since.
   * @throws StartError when the encryption key cannot open a signing key
   */
  async assertOpenable(): Promise<void> {
    assertOpenable(this.secrets, await this.statements.run<KeyRow>(FIND_USED_KEYS, []));
  }

  /** Returns the key that is already published but does not sign yet, if there is one. */
  next(): Promise<PublishedKey | undefined> {
    return this.statements.runOne<PublishedKey>(FIND_NEXT_KEY, []);
  }

  /** Locks the rotation of keys until the open unit of work ends, so that key changes run one after the other. */
  async lock(): Promise<void> {
    await this.statements.run(LOCK_ROTATION, []);
  }

  /**
   * Removes the keys that no longer sign because a newer key does.
   * @param needed ids of keys that stay
   * @returns the ids of the removed keys
   */
  async removeSuperseded(needed: readonly string[]): Promise<string[]> {
    return (await this.statements.run<KeyRow>(REMOVE_SUPERSEDED, [needed])).map(({ kid }) => kid);
  }

  /** Removes all keys except the given one. @returns the ids of the removed keys */
  async keepOnly(kid: string): Promise<string[]> {
    return (await this.statements.run<KeyRow>(KEEP_ONLY, [kid])).map((row) => row.kid);
  }

  /** Returns the public keys as a JWK Set (RFC 7517), including keys that do not sign yet or no longer sign. */
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
