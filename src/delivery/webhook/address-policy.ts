import { lookup } from 'node:dns';
import { type LookupFunction, isIP } from 'node:net';
import { Injectable } from '@nestjs/common';
import { Environment } from '../../platform/config/environment';
import { DeliveryFailure } from '../delivery-failure';
import { addressClassOf } from './address-class';

const REFUSED: Readonly<Record<Environment['webhookAddresses'], readonly ReturnType<typeof addressClassOf>[]>> = {
  open: [],
  'no-metadata': ['forbidden'],
  'public-only': ['forbidden', 'private'],
};

/**
 * Decides which addresses a webhook may be sent to (`SVC_WEBHOOK_ADDRESSES`). The address is checked at each
 * connection, since a name may resolve to a different address than when the destination was stored.
 */
@Injectable()
export class AddressPolicy {
  constructor(private readonly environment: Environment) {}

  /** Checks a literal address, since Node calls `lookup` only for names. @throws DeliveryFailure if it is refused */
  assertHostAllowed(hostname: string): void {
    const address = hostname.replace(/^\[|\]$/g, '');
    if (isIP(address) !== 0 && !this.allows(address)) throw refusal();
  }

  /** Resolves a host name to those of its addresses that are allowed. */
  readonly lookup: LookupFunction = (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, answers) => {
      const allowed = error === null ? answers.filter(({ address }) => this.allows(address)) : [];
      const [first] = allowed;
      if (first === undefined) callback(error ?? refusal(), []);
      else if (options.all === true) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };

  private allows(address: string): boolean {
    return !REFUSED[this.environment.webhookAddresses].includes(addressClassOf(address));
  }
}

const refusal = (): DeliveryFailure =>
  new DeliveryFailure('The address of the endpoint is not allowed (SVC_WEBHOOK_ADDRESSES)');
