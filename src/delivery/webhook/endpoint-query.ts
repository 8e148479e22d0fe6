import { MASK } from '../delivery-kind';

/** The URL with the mask in place of each value of its query: a value may be a secret, its name is none. */
export function maskedEndpoint(url: string): string {
  const { base, parts } = partsOf(url);
  return base + parts.map((part) => (part === '' ? part : maskedPart(part))).join('&');
}

/**
 * The URL with the values in force in place of its masks; of a name that stands more than once, in their order.
 * @returns undefined for a mask without a value in force: there is none of that name, or it was meant for another origin
 */
export function unmaskedEndpoint(url: string, inForce: string | undefined): string | undefined {
  const { base, parts } = partsOf(url);
  const isSameOrigin = inForce !== undefined && new URL(inForce).origin === new URL(url).origin;
  const known = isSameOrigin ? partsOf(inForce).parts : [];
  const values = parts.map((part) => (part.endsWith(MASK) && part === maskedPart(part) ? take(known, part) : part));
  return values.includes(undefined) ? undefined : base + values.join('&');
}

function partsOf(url: string): { readonly base: string; readonly parts: string[] } {
  const start = url.indexOf('?') + 1;
  return start === 0 ? { base: url, parts: [] } : { base: url.slice(0, start), parts: url.slice(start).split('&') };
}

/** A part without `=` may be a secret as a whole. */
const maskedPart = (part: string): string => part.slice(0, part.indexOf('=') + 1) + MASK;

function take(known: string[], masked: string): string | undefined {
  const index = known.findIndex((part) => maskedPart(part) === masked);
  return index < 0 ? undefined : known.splice(index, 1)[0];
}
