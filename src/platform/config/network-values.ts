import { isIP } from 'node:net';

/** Address ranges that Express accepts (https://expressjs.com/en/guide/behind-proxies.html). */
const NAMED_RANGES = ['loopback', 'linklocal', 'uniquelocal'];

/** The fault of an origin, which must have the form that browsers send (RFC 6454, section 6.2). */
export function originFault(value: string): string | undefined {
  const [, scheme, host] = /^([a-z][a-z0-9+.-]*):\/\/([^\s/?#@*]+)/.exec(value) ?? [];
  if (scheme === undefined || host === undefined) return 'such as https://app.example';
  const sent = /^https?$/.test(scheme) && URL.canParse(value) ? new URL(value).origin : `${scheme}://${host}`;
  return sent === value ? undefined : `and browsers send it as ${sent}`;
}

/** The fault of the address or subnet of a proxy. */
export function proxyFault(value: string): string | undefined {
  const [address = '', prefix, ...more] = value.split('/');
  const longest = isIP(address) === 4 ? 32 : 128;
  const isPrefix =
    prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) >= 1 && Number(prefix) <= longest);
  if (NAMED_RANGES.includes(value) || (isIP(address) !== 0 && isPrefix && more.length === 0)) return undefined;
  return `such as 10.0.0.5, 10.0.0.0/8 or ${NAMED_RANGES.join(', ')}`;
}
