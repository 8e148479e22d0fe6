import { BlockList, isIPv4 } from 'node:net';

export type AddressClass = 'public' | 'private' | 'forbidden';

type Subnet = readonly [address: string, prefix: number];

/**
 * Never the address of a webhook: this host as "any", link-local (where clouds answer with credentials), multicast,
 * broadcast, and the metadata services of clouds that use other addresses (Alibaba, Azure, Oracle; AWS and Google by
 * IPv6).
 */
const FORBIDDEN_V4: readonly Subnet[] = [
  ['0.0.0.0', 8],
  ['169.254.0.0', 16],
  ['224.0.0.0', 4],
  ['255.255.255.255', 32],
  ['100.100.100.200', 32],
  ['168.63.129.16', 32],
  ['192.0.0.192', 32],
];
const FORBIDDEN_V6: readonly Subnet[] = [
  ['::', 128],
  ['fe80::', 10],
  ['ff00::', 8],
  ['fd00:ec2::254', 128],
  ['fd20:ce::254', 128],
];

/** https://www.iana.org/assignments/iana-ipv4-special-registry, what is not globally reachable. */
const PRIVATE_V4: readonly Subnet[] = [
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['240.0.0.0', 4],
];

/**
 * Of IPv6, 2000::/3 alone is routed globally; within it https://www.iana.org/assignments/iana-ipv6-special-registry.
 */
const GLOBAL_V6: readonly Subnet[] = [['2000::', 3]];
const PRIVATE_WITHIN_GLOBAL_V6: readonly Subnet[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['3fff::', 20],
];

/** IPv6 prefixes of 96 bits that are followed by an IPv4 address: compatible, mapped, NAT64 (RFC 4291, 6052). */
const EMBEDDING_PREFIXES = ['0:0:0:0:0:0', '0:0:0:0:0:ffff', '64:ff9b:0:0:0:0'];

const forbidden = listOf(FORBIDDEN_V4, FORBIDDEN_V6);
const special = listOf(PRIVATE_V4, PRIVATE_WITHIN_GLOBAL_V6);
const global = listOf([], GLOBAL_V6);

/**
 * Sorts an address by its bits, however it is written. An IPv6 address that carries an IPv4 address is what that is;
 * tunnels whose far end cannot be told (6to4, Teredo, local NAT64) are forbidden.
 */
export function addressClassOf(address: string): AddressClass {
  if (isIPv4(address)) return classOf(address, 'ipv4');
  const groups = groupsOf(address);
  if (groups === undefined) return 'forbidden';
  const embedded = embeddedIpv4Of(groups);
  if (embedded !== undefined) return classOf(embedded, 'ipv4');
  const [first, second, third] = groups;
  const isTunnel =
    first === '2002' || (first === '2001' && second === '0') || (first === '64' && second === 'ff9b' && third === '1');
  return isTunnel ? 'forbidden' : classOf(groups.join(':'), 'ipv6');
}

function classOf(address: string, family: 'ipv4' | 'ipv6'): AddressClass {
  if (forbidden.check(address, family)) return 'forbidden';
  if (special.check(address, family)) return 'private';
  return family === 'ipv4' || global.check(address, family) ? 'public' : 'private';
}

/** The eight groups of an IPv6 address in lower-case hex without leading zeros; a zone (`%eth0`) does not count. */
function groupsOf(address: string): readonly string[] | undefined {
  const literal = `http://[${address.replace(/%.*$/, '')}]`;
  if (!URL.canParse(literal)) return undefined;
  const [head = '', tail] = new URL(literal).hostname.slice(1, -1).split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  return [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after];
}

/** `::` and `::1` are addresses of IPv6 itself. */
function embeddedIpv4Of(groups: readonly string[]): string | undefined {
  if (!EMBEDDING_PREFIXES.includes(groups.slice(0, 6).join(':'))) return undefined;
  const [high = 0, low = 0] = groups.slice(6).map((group) => parseInt(group, 16));
  if (groups[5] === '0' && groups[0] === '0' && high === 0 && low <= 1) return undefined;
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

function listOf(v4: readonly Subnet[], v6: readonly Subnet[]): BlockList {
  const list = new BlockList();
  for (const [address, prefix] of v4) list.addSubnet(address, prefix, 'ipv4');
  for (const [address, prefix] of v6) list.addSubnet(address, prefix, 'ipv6');
  return list;
}
