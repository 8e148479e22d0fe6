import { BlockList, isIP, isIPv4 } from 'node:net';

export type AddressClass = 'public' | 'private' | 'forbidden';

/**
 * Addresses that no webhook may use: "any" (which means this host), link-local (where clouds serve credentials),
 * multicast, broadcast, and metadata services of clouds at other addresses: Alibaba, Azure, Oracle; by IPv6 AWS (all
 * its local services, such as the credentials of a pod), Google, Oracle, Scaleway, Linode, Alibaba.
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
  'fd00:ec2::/32',
  'fd20:ce::254/128',
  'fd00:c1::a9fe:a9fe/128',
  'fd00:42::42/128',
  'fd00:a9fe:a9fe::1/128',
  'fd00:100::100:200/128',
];

/** Addresses of tunnels (6to4, Teredo, local NAT64). The address at the other end is unknown. */
const TUNNELS = ['2002::/16', '2001::/32', '64:ff9b:1::/48'];

/** Entries of https://www.iana.org/assignments/iana-ipv4-special-registry that are not globally reachable. */
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

/** Private IPv6 addresses within {@link PUBLIC}, from https://www.iana.org/assignments/iana-ipv6-special-registry. */
const PRIVATE_V6 = ['2001::/23', '2001:db8::/32', '3fff::/20'];

/** Public addresses, unless another list contains them. In IPv6, only 2000::/3 is routed globally. */
const PUBLIC = ['0.0.0.0/0', '2000::/3'];

/** IPv6 prefixes of 96 bits before an IPv4 address: compatible, mapped, translated, NAT64 (RFC 4291, 2765, 6052). */
const EMBEDDING_PREFIXES = ['::', '::ffff:', '::ffff:0:', '64:ff9b::'];

/** The first list that contains an address decides. `::1` comes first, since it embeds no IPv4 address 0.0.0.1. */
const LISTS: readonly (readonly [AddressClass, BlockList])[] = [
  ['private', listOf(['::1/128'])],
  ['forbidden', listOf([...FORBIDDEN, ...TUNNELS])],
  ['private', listOf([...PRIVATE_V4, ...PRIVATE_V6])],
  ['public', listOf(PUBLIC)],
];

/** Classifies an address by its bits, whatever its notation. A zone (`%eth0`) is ignored. */
export function addressClassOf(address: string): AddressClass {
  const bare = address.replace(/%.*/s, '');
  if (isIP(bare) === 0) return 'forbidden';
  return LISTS.find(([, list]) => list.check(bare, familyOf(bare)))?.[0] ?? 'private';
}

/** Makes a list of subnets. For an IPv4 subnet, it also contains the IPv6 addresses that embed its addresses. */
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
