import { createHmac, hkdfSync } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Environment } from '../../platform/config/environment';
import { addressPrefixOf } from '../../platform/admission/address-prefix';

/**
 * The owner of credentials that are judged. A User is counted by its id, whatever login name was typed; a `login` is a name that no
 * User has.
 */
export interface Account {
  readonly kind: 'user' | 'login' | 'client';
  readonly name: string;
}

/** The keys of the counters that a try concerns. */
export interface GuessKeys {
  readonly account: Buffer;
  readonly address: Buffer;
}

/** Keys of the counters: keyed hashes, so neither names nor addresses can be read from the table. */
@Injectable()
export class GuessKeyMaker {
  private readonly secret: Buffer;

  constructor({ encryptionKey }: Environment) {
    if (encryptionKey === undefined) throw new Error('SVC_ENCRYPTION_KEY is not set');
    this.secret = Buffer.from(hkdfSync('sha256', encryptionKey, '', 'credential-failure', 32));
  }

  /** @param ip of the caller; undefined in background work */
  keysOf({ kind, name }: Account, ip = ''): GuessKeys {
    const prefix = addressPrefixOf(ip);
    // Case does not count in a typed name, as it does not in emails.
    const counted = kind === 'login' ? name.normalize('NFKC').toLowerCase() : name;
    return { account: this.hashOf('account', kind, counted, prefix), address: this.hashOf('address', prefix) };
  }

  /** Names credentials without holding them. */
  hashOf(...parts: readonly string[]): Buffer {
    return createHmac('sha256', this.secret).update(JSON.stringify(parts)).digest();
  }
}
