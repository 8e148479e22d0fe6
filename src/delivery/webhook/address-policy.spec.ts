import { describe, expect, it } from '@jest/globals';
import { readEnvironment } from '../../platform/config/environment';
import { DeliveryFailure } from '../delivery-failure';
import { AddressPolicy } from './address-policy';

const policyOf = (level: string): AddressPolicy => new AddressPolicy(readEnvironment({ SVC_WEBHOOK_ADDRESSES: level }));

/** Returns whether the levels open, no-metadata and public-only accept a literal host of a URL. */
const levelsOf = (host: string): boolean[] =>
  ['open', 'no-metadata', 'public-only'].map((level) => {
    try {
      policyOf(level).assertHostAllowed(new URL(`http://${host}/`).hostname);
      return true;
    } catch (error) {
      if (error instanceof DeliveryFailure) return false;
      throw error;
    }
  });

describe(AddressPolicy.name, () => {
  it.each(['169.254.169.254', '[::ffff:a9fe:a9fe]', '0', '0.0.0.0', '2852039166', '0xa9.0xfe.0xa9.0xfe', '[fe80::1]'])(
    'allows %s only at the level open',
    (host) => {
      expect(levelsOf(host)).toEqual([true, false, false]);
    },
  );

  it.each(['127.0.0.1', '127.1', '0x7f.1', '2130706433', '017700000001', '[::1]', '10.0.0.1', '192.168.0.1'])(
    'refuses %s at the level public-only',
    (host) => {
      expect(levelsOf(host)).toEqual([true, true, false]);
    },
  );

  it.each(['1.1.1.1', '[2606:4700:4700::1111]', 'names.are.looked.up.example'])('allows %s at every level', (host) => {
    expect(levelsOf(host)).toEqual([true, true, true]);
  });

  const resolve = (level: string, hostname: string, all: boolean): Promise<unknown> =>
    new Promise((done, fail) => {
      policyOf(level).lookup(hostname, { all }, (error, address, family) => {
        if (error === null) done(all ? address : [address, family]);
        else fail(error);
      });
    });

  it('resolves a name to its allowed addresses', async () => {
    expect(await resolve('no-metadata', 'localhost', true)).toContainEqual({ address: '127.0.0.1', family: 4 });
  });

  it('resolves a name to one address if only one is requested', async () => {
    expect([
      ['127.0.0.1', 4],
      ['::1', 6],
    ]).toContainEqual(await resolve('no-metadata', 'localhost', false));
  });

  it('refuses a name if all of its addresses are refused', async () => {
    await expect(resolve('public-only', 'localhost', true)).rejects.toThrow(DeliveryFailure);
  });
});
