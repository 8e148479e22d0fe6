import { createHmac, hkdfSync } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Environment } from '../../platform/config/environment';
import { addressPrefixOf } from '../../platform/admission/address-prefix';

/**
 * The account whose credentials are judged. `user`: the id of a User, whichever of its login names was typed. `login`:
 * a typed name that no User has.
 */
export interface Account {
  readonly kind: 'user' | 'login' | 'client';
  readonly name: string;
}

/** Keys of the two counters that a try uses: one of the account at an address, one of the address alone. */
export interface GuessKeys {
  readonly account: Buffer;
  readonly address: Buffer;
}

/** Makes the keys of the counters. The keys are HMACs, so the table reveals neither names nor addresses. */
@Injectable()
export class GuessKeyMaker {
  private readonly secret: Buffer;

  constructor({ encryptionKey }: Environment) {
    if (encryptionKey === undefined) throw new Error('SVC_ENCRYPTION_KEY is not set');
    this.secret = Buffer.from(hkdfSync('sha256', encryptionKey, '', 'credential-failure', 32));
  }

  /** @param ip address of the caller; undefined in background work */
  keysOf({ kind, name }: Account, ip = ''): GuessKeys {
    const prefix = addressPrefixOf(ip);
    // A typed name is counted without its case, since emails match in any case.
    const counted = kind === 'login' ? name.normalize('NFKC').toLowerCase() : name;
    return { account: this.hashOf('account', kind, counted, prefix), address: this.hashOf('address', prefix) };
  }

  /** Returns an HMAC that identifies credentials, so that they need not be stored. */
  hashOf(...parts: readonly string[]): Buffer {
    return createHmac('sha256', this.secret).update(JSON.stringify(parts)).digest();
  }
}
