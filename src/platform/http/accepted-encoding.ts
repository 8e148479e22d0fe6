import { Negotiator } from 'negotiator';

export type Encoding = 'br' | 'gzip';

/** Chooses an encoding by `Accept-Encoding` (RFC 9110, section 12.5.3): br first, which is faster with our settings. */
export function acceptedEncoding(header: string | string[] | undefined): Encoding | undefined {
  if (header === undefined) return undefined;
  const negotiator = new Negotiator({ headers: { 'accept-encoding': String(header) } });
  const accepted = negotiator.encodings(['br', 'gzip', 'x-gzip']);
  return accepted.includes('br') ? 'br' : accepted.length > 0 ? 'gzip' : undefined;
}
