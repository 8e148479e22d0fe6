export interface HeaderLine {
  readonly name: string;
  readonly value: string;
}

/** A header name: a token of RFC 9110, section 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** A header value of RFC 9110, section 5.5, but without obs-text, whose encoding differs between receivers. */
const FIELD_VALUE = /^[\t\x20-\x7e]*$/;

/**
 * Header names that a destination must not configure: headers of the connection and of message framing (RFC 9110,
 * sections 7.2, 7.6.1, 8.6, 10.1.1), and headers that this server sets.
 */
const RESERVED =
  /^(host|content-length|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|(http2|proxy|webhook)-.*)$/i;

/**
 * Parses `Name: value`. It splits at the first colon, and drops white space around the value.
 * @returns the header, or an error text, which never contains the value
 */
export function parseHeaderLine(line: string): HeaderLine | string {
  const colon = line.indexOf(':');
  if (colon < 0) return 'has no colon: write "Name: value"';
  const name = line.slice(0, colon);
  const value = line.slice(colon + 1);
  if (!TOKEN.test(name))
    return "has a name that is no HTTP token: letters, digits and !#$%&'*+-.^_`|~, with no space before the colon";
  if (!FIELD_VALUE.test(value)) return 'has a value with characters other than visible ASCII, space and tab';
  if (RESERVED.test(name)) return `names ${name}, which the server writes itself. Leave it out`;
  return { name, value: value.trim() };
}
