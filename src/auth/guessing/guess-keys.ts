import { createHmac, hkdfSync } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Environment } from '../../platform/config/environment';
import { addressPrefixOf } from '../../platform/http/address-prefix';

/** What tries are counted by. */
export interface GuessKeys {
  readonly account: Buffer;
  readonly address: Buffer;
}

export type AccountKind = 'user' | 'client';

/** Keys of the counters: keyed hashes, so that neither names nor addresses can be found out from the table. */
@Injectable()
export class GuessKeyMaker {
  private readonly secret: Buffer;

  constructor({ encryptionKey }: Environment) {
    if (encryptionKey === undefined) throw new Error('SVC_ENCRYPTION_KEY is not set');
    this.secret = Buffer.from(hkdfSync('sha256', encryptionKey, '', 'credential-failure', 32));
  }

  /**
   * @param name as it was sent: whether it exists must make no difference. Case does not count, since it does not in emails
   * @param address of the caller; undefined in background work
   */
  keysOf(kind: AccountKind, name: string, address = ''): GuessKeys {
    const prefix = addressPrefixOf(address);
    return {
      account: this.hashOf('account', kind, name.normalize('NFKC').toLowerCase(), prefix),
      address: this.hashOf('address', prefix),
    };
  }

  /** Tells a pair of account and secret, without holding either. */
  hashOf(...parts: readonly string[]): Buffer {
    return createHmac('sha256', this.secret).update(JSON.stringify(parts)).digest();
  }
}
