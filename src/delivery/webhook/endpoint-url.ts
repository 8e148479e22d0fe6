const MAX_LENGTH = 2_048;

/**
 * Reads the URL of an endpoint. Parsers of URLs mend much in silence (line breaks are dropped, `\` becomes `/`, missing slashes are
 * put in): whatever would not be sent as it was written is refused.
 * @returns the URL as it is requested; or what is wrong with it, which never repeats it
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
