/** One HTTP header as configured in a destination. */
export interface HeaderLine {
  readonly name: string;
  readonly value: string;
}

/** RFC 9110, section 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** RFC 9110, section 5.5, without obs-text: receivers disagree on its encoding. */
const FIELD_VALUE = /^[\t\x20-\x7e]*$/;

/**
 * Headers of the connection or of the framing (RFC 9110, sections 7.2, 7.6.1, 8.6, 10.1.1), and headers that the server
 * writes.
 */
const RESERVED =
  /^(host|content-length|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|(http2|proxy|webhook)-.*)$/i;

/**
 * Parses `Name: value`, split at the first colon; white space around the value is dropped.
 * @returns an error text that never repeats the value
 */
export function parseHeaderLine(line: string): HeaderLine | string {
  const colon = line.indexOf(':');
  if (colon < 0) return 'has no colon: write "Name: value"';
  const name = line.slice(0, colon);
  const value = line.slice(colon + 1).replace(/^[\t ]+|[\t ]+$/g, '');
  if (!TOKEN.test(name))
    return "has a name that is no HTTP token: letters, digits and !#$%&'*+-.^_`|~, with no space before the colon";
  if (!FIELD_VALUE.test(value)) return 'has a value with characters other than visible ASCII, space and tab';
  if (RESERVED.test(name)) return `names ${name}, which the server writes itself. Leave it out`;
  return { name, value };
}
