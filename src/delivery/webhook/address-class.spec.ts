import { describe, expect, it } from '@jest/globals';
import { type AddressClass, addressClassOf } from './address-class';

const EXPECTED: Readonly<Record<AddressClass, readonly string[]>> = {
  public: [
    '1.1.1.1',
    '8.8.8.8',
    '99.255.255.255',
    '100.128.0.1',
    '172.15.255.255',
    '172.32.0.1',
    '223.255.255.255',
    '2606:4700:4700::1111',
    '2A00:1450:4001:81b::200e',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
  ],
  private: [
    '10.0.0.1',
    '127.0.0.1',
    '127.255.255.254',
    '100.64.0.1',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '192.0.2.1',
    '198.19.0.1',
    '203.0.113.9',
    '240.0.0.1',
    '::1',
    '0:0:0:0:0:0:0:1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:10.1.2.3',
    'fc00::1',
    'fd12:3456::1',
    'fec0::1',
    '2001:db8::1',
    '3fff::1',
    '100::1',
  ],
  forbidden: [
    '0.0.0.0',
    '0.1.2.3',
    '169.254.169.254',
    '169.254.170.2',
    '224.0.0.1',
    '239.255.255.255',
    '255.255.255.255',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
    '::',
    'fe80::1',
    'fe80::1%eth0',
    'febf::1',
    'ff02::1',
    'fd00:ec2::254',
    'FD00:0EC2:0:0:0:0:0:254',
    'fd20:ce::254',
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    '::FFFF:A9FE:A9FE',
    '0:0:0:0:0:ffff:169.254.169.254',
    '::169.254.169.254',
    '64:ff9b::169.254.169.254',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::1',
    '2002:a9fe:a9fe::1',
    '2001:0:a9fe:a9fe::1',
    'not an address',
    '',
  ],
};

describe(addressClassOf.name, () => {
  for (const [expected, addresses] of Object.entries(EXPECTED)) {
    it.each(addresses)(`sorts "%s" as ${expected}`, (address) => {
      expect(addressClassOf(address)).toBe(expected);
    });
  }
});
