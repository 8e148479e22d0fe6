import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Environment } from '../config/environment';

/**
 * Lengths of the nonce (as recommended for GCM) and of the tag (full length). NIST SP 800-38D, sections 5.2.1 and
 * 8.2.2.
 */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts ("seals") secrets for the database with the encryption key of the server, by AES-256-GCM with a new nonce
 * for each value. A sealed value is nonce, tag and ciphertext in one buffer, 28 bytes longer than the plain value.
 * Values that were sealed with an accepted earlier key can be opened too, so that the key can be rotated.
 */
@Injectable()
export class SecretBox {
  private readonly key: Buffer;
  private readonly accepted: readonly Buffer[];

  constructor({ encryptionKey, encryptionKeysAccepted }: Environment) {
    if (encryptionKey === undefined) throw new Error('SVC_ENCRYPTION_KEY is not set');
    this.key = encryptionKey;
    this.accepted = encryptionKeysAccepted;
  }

  seal(plain: Buffer): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.key, nonce, { authTagLength: TAG_BYTES });
    const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
  }

  /**
   * Decrypts a sealed value.
   * @throws Error if `sealed` was changed, or was sealed with a key that is not accepted
   */
  open(sealed: Buffer): Buffer {
    const plain = this.tryOpen(sealed);
    if (plain !== undefined) return plain;
    throw new Error(
      'A sealed value was changed, or SVC_ENCRYPTION_KEY and SVC_ENCRYPTION_KEYS_ACCEPTED lack the key that sealed it',
    );
  }

  /** Like {@link open}, but returns undefined instead of throwing. */
  tryOpen(sealed: Buffer): Buffer | undefined {
    for (const key of [this.key, ...this.accepted]) {
      const plain = openWith(key, sealed);
      if (plain !== undefined) return plain;
    }
    return undefined;
  }

  /** Whether this value was sealed with the key of {@link seal}. */
  isCurrent(sealed: Buffer): boolean {
    return openWith(this.key, sealed) !== undefined;
  }
}

/**
 * Opens a sealed value with `key`. Returns undefined if the value is too short, was changed, or was sealed with another
 * key. The tag shows the last two (NIST SP 800-38D, section 7.2).
 */
function openWith(key: Buffer, sealed: Buffer): Buffer | undefined {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) return undefined;
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  const plain = decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES));
  try {
    return Buffer.concat([plain, decipher.final()]);
  } catch {
    return undefined;
  }
}
