const MAX_LENGTH = 2_048;

/**
 * Parses the URL of an endpoint. URL parsers silently repair a lot: they drop line breaks, turn `\` into `/`, add
 * missing slashes. So a URL is refused if it would not be requested as it is written.
 * @returns the URL as it is requested, or an error text, which never contains the URL
 */
export function readEndpointUrl(text: string): { readonly href: string } | string {
  if (text.length > MAX_LENGTH) return `must have at most ${MAX_LENGTH} characters`;
  if (/[^\x21-\x7e\u00a0-\u{10ffff}]/u.test(text))
    return 'must not hold spaces, line breaks or other control characters';
  if (!/^https?:\/\/[^/]/i.test(text) || text.includes('\\') || !URL.canParse(text))
    return 'must be an absolute http or https URL';
  const url = new URL(text);
  if (url.username !== '' || url.password !== '' || /^https?:\/\/[^/?#]*@/i.test(text))
    return 'must not hold a user or password. Send them in a header parameter: "Authorization: Basic …"';
  if (url.hash !== '' || text.includes('#')) return 'must not hold a fragment: it would not be sent';
  if (url.port === '0') return 'must not name port 0';
  return { href: url.href };
}
