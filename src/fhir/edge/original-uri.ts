/** No proxy takes longer lines. */
const LONGEST = 8_192;

/**
 * The root that links begin with, by the address that a caller used: `https://gw.example/clinic/fhir/Patient?name=x` for
 * `/Patient`, or its path alone, which then is on the host of `baseUrl`.
 * @param below the path that was called, below the root
 * @returns undefined for what is no such address, or does not end with the path that was called
 */
export function rootOfOriginal(original: string, below: string, baseUrl: string): string | undefined {
  if (original.length > LONGEST || !/^(https?:\/\/|\/(?!\/))/i.test(original)) return undefined;
  const url = urlOf(original, baseUrl);
  if (url?.username !== '' || url.password !== '') return undefined;
  const called = pathnameOf(urlOf(`/${below.replace(/^\/+/, '')}`, baseUrl));
  const path = pathnameOf(url);
  if (called === undefined || path?.endsWith(called) !== true) return undefined;
  return `${url.origin}${path.slice(0, path.length - called.length)}`;
}

/** The parser writes unsafe characters as escapes. */
function urlOf(text: string, base: string): URL | undefined {
  return URL.canParse(text, base) ? new URL(text, base) : undefined;
}

const pathnameOf = (url: URL | undefined): string | undefined => url?.pathname.replace(/\/+$/, '');
