import { MASK } from '../delivery-kind';

/** Masks each value in the query of a URL: a value may be a secret, its name is not. */
export function maskedEndpoint(url: string): string {
  const { base, parts } = partsOf(url);
  return base + parts.map((part) => (part === '' ? part : maskedPart(part))).join('&');
}

/**
 * Replaces the masks in a URL by the values in force; a repeated name gets its values in order.
 * @returns undefined for a mask without a value in force: no such name, or a value meant for another origin
 */
export function unmaskedEndpoint(url: string, inForce: string | undefined): string | undefined {
  const { base, parts } = partsOf(url);
  const isSameOrigin = inForce !== undefined && new URL(inForce).origin === new URL(url).origin;
  const known = isSameOrigin ? partsOf(inForce).parts : [];
  const values = parts.map((part) =>
    part.endsWith(MASK) && part === maskedPart(part) ? takeFirst(known, (one) => maskedPart(one) === part) : part,
  );
  return values.includes(undefined) ? undefined : base + values.join('&');
}

function partsOf(url: string): { readonly base: string; readonly parts: string[] } {
  const start = url.indexOf('?') + 1;
  return start === 0 ? { base: url, parts: [] } : { base: url.slice(0, start), parts: url.slice(start).split('&') };
}

/** A part without `=` may itself be a secret. */
const maskedPart = (part: string): string => part.slice(0, part.indexOf('=') + 1) + MASK;

/** Removes the first fitting element, so that elements that look alike are taken in their order. */
export function takeFirst<T>(known: T[], isFitting: (one: T) => boolean): T | undefined {
  const index = known.findIndex(isFitting);
  return index < 0 ? undefined : known.splice(index, 1)[0];
}
