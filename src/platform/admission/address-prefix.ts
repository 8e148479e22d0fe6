import { isIPv6 } from 'node:net';

/** Groups of an IPv6 address that identify a subscriber, who can use any address below them (RFC 6177). */
const GROUPS = 4;

/** Identifies a caller: an IPv4 address as it is, an IPv6 address by its /64. */
export function addressPrefixOf(address: string): string {
  const [bare = ''] = address.toLowerCase().split('%');
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(bare)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(bare)) return bare;
  // A URL contains the canonical form of any address (RFC 5952).
  const [head = '', tail] = new URL(`http://[${bare}]`).hostname.slice(1, -1).split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? [] : Array<string>(8 - left.length - right.length).fill('0');
  return [...left, ...zeros, ...right].slice(0, GROUPS).join(':');
}
