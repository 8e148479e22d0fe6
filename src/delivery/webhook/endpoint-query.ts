import { MASK } from '../delivery-kind';

/** Masks each value in the query of a URL, since a value may be a secret. The names stay. */
export function maskedEndpoint(url: string): string {
  const { base, parts } = partsOf(url);
  return base + parts.map((part) => (part === '' ? part : maskedPart(part))).join('&');
}

/**
 * Replaces the masks in a URL by the values of the current URL, `inForce`. If a name is repeated, its values are taken
 * in order.
 * @returns undefined for a mask without a value: the current URL does not have this name, or has another origin
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

/** Masks the value of a part. A part without `=` may itself be a secret, so it is masked completely. */
const maskedPart = (part: string): string => part.slice(0, part.indexOf('=') + 1) + MASK;

/** Removes and returns the first element that fits, so that equal-looking elements are taken in their order. */
export function takeFirst<T>(known: T[], isFitting: (one: T) => boolean): T | undefined {
  const index = known.findIndex(isFitting);
  return index < 0 ? undefined : known.splice(index, 1)[0];
}
