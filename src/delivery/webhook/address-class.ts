import { BlockList, isIP, isIPv4 } from 'node:net';

export type AddressClass = 'public' | 'private' | 'forbidden';

/**
 * Forbidden as webhook addresses: this host as "any", link-local (where clouds serve credentials), multicast,
 * broadcast, and metadata services of clouds at other addresses (Alibaba, Azure, Oracle; AWS and Google by IPv6).
 */
const FORBIDDEN = [
  '0.0.0.0/8',
  '169.254.0.0/16',
  '224.0.0.0/4',
  '255.255.255.255/32',
  '100.100.100.200/32',
  '168.63.129.16/32',
  '192.0.0.192/32',
  '::/128',
  'fe80::/10',
  'ff00::/8',
  'fd00:ec2::254/128',
  'fd20:ce::254/128',
];

/** Forbidden tunnels, since their far end is unknown: 6to4, Teredo, local NAT64. */
const TUNNELS = ['2002::/16', '2001::/32', '64:ff9b:1::/48'];

/** https://www.iana.org/assignments/iana-ipv4-special-registry, entries that are not globally reachable. */
const PRIVATE_V4 = [
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '240.0.0.0/4',
];

/** https://www.iana.org/assignments/iana-ipv6-special-registry, within {@link PUBLIC}. */
const PRIVATE_V6 = ['2001::/23', '2001:db8::/32', '3fff::/20'];

/** In IPv6, only 2000::/3 is routed globally. */
const PUBLIC = ['0.0.0.0/0', '2000::/3'];

/** IPv6 prefixes of 96 bits that precede an IPv4 address: compatible, mapped, NAT64 (RFC 4291, 6052). */
const EMBEDDING_PREFIXES = ['::', '::ffff:', '64:ff9b::'];

/** The first list that contains an address decides. `::1` is a native IPv6 address, not 0.0.0.1. */
const LISTS: readonly (readonly [AddressClass, BlockList])[] = [
  ['private', listOf(['::1/128'])],
  ['forbidden', listOf([...FORBIDDEN, ...TUNNELS])],
  ['private', listOf([...PRIVATE_V4, ...PRIVATE_V6])],
  ['public', listOf(PUBLIC)],
];

/**
 * Classifies an address by its bits, in any notation, without its zone (`%eth0`). An IPv6 address that embeds an IPv4
 * address has the class of the latter.
 */
export function addressClassOf(address: string): AddressClass {
  const bare = address.replace(/%.*$/, '');
  if (isIP(bare) === 0) return 'forbidden';
  return LISTS.find(([, list]) => list.check(bare, familyOf(bare)))?.[0] ?? 'private';
}

/** An IPv4 subnet is listed together with the IPv6 addresses that embed it. */
function listOf(subnets: readonly string[]): BlockList {
  const list = new BlockList();
  for (const [address = '', bits] of subnets.map((subnet) => subnet.split('/'))) {
    list.addSubnet(address, Number(bits), familyOf(address));
    if (isIPv4(address))
      for (const prefix of EMBEDDING_PREFIXES) list.addSubnet(prefix + address, 96 + Number(bits), 'ipv6');
  }
  return list;
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv4(address) ? 'ipv4' : 'ipv6';
}
