import { isUtf8 } from 'node:buffer';
import { JsonBodyError } from './json-body-error';

const BYTE_ORDER_MARK = 0xfeff;

/**
 * Decodes bytes as UTF-8 and drops a byte order mark (RFC 8259, section 8.1).
 * @throws JsonBodyError for bytes that are not UTF-8: a lenient decoder would silently put U+FFFD into the
 * record
 */
export function decodeUtf8(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new JsonBodyError('body-malformed', 'The body is not valid UTF-8');
  const text = bytes.toString('utf8');
  return text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
}
