import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Environment } from '../config/environment';

/** The nonce length that GCM is made for, and its full tag (NIST SP 800-38D, sections 5.2.1 and 8.2.2). */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Wraps secrets for the database with the server's encryption key: AES-256-GCM, a fresh nonce each time.
 * A sealed value is nonce, tag and ciphertext in one buffer, 28 bytes longer than the plain one.
 */
@Injectable()
export class SecretBox {
  private readonly key: Buffer;

  constructor({ encryptionKey }: Environment) {
    if (encryptionKey === undefined) throw new Error('SVC_ENCRYPTION_KEY is not set');
    this.key = encryptionKey;
  }

  seal(plain: Buffer): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.key, nonce, { authTagLength: TAG_BYTES });
    const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
  }

  /** @throws Error when `sealed` was changed, or was sealed with another key. */
  open(sealed: Buffer): Buffer {
    if (sealed.length < NONCE_BYTES + TAG_BYTES) throw new Error('A sealed value is too short');
    const decipher = createDecipheriv('aes-256-gcm', this.key, sealed.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
  }
}
