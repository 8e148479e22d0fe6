import { describe, expect, it } from '@jest/globals';
import { addressPrefixOf } from './address-prefix';

describe(addressPrefixOf, () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:DB8:0001:2::9', '2001:db8:1:2'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['::1', '0:0:0:0'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['1::', '1:0:0:0'],
    ['', ''],
    ['unknown', ''],
    ['192.0.2.7:1234', ''],
  ])('returns for "%s" the prefix "%s"', (address, prefix) => {
    expect(addressPrefixOf(address)).toBe(prefix);
  });
});
