import { isIPv4, isIPv6 } from 'node:net';

/**
 * How many groups of an IPv6 address identify a subscriber. The subscriber can use any address that begins with these
 * groups (RFC 6177).
 */
const GROUPS = 4;

/**
 * Returns the part of an address that identifies a caller: a whole IPv4 address, or the /64 of an IPv6 address. Each
 * text that is no address, such as `unknown` from a proxy, has the same empty result. Otherwise a caller who can vary
 * the text would count as many callers.
 */
export function addressPrefixOf(address: string): string {
  const [bare = ''] = address.toLowerCase().split('%');
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(bare)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(bare)) return isIPv4(bare) ? bare : '';
  // Parsing the address as the host of a URL gives its canonical form (RFC 5952).
  const [head = '', tail] = new URL(`http://[${bare}]`).hostname.slice(1, -1).split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? [] : Array<string>(8 - left.length - right.length).fill('0');
  return [...left, ...zeros, ...right].slice(0, GROUPS).join(':');
}
