import { type RequestHandler } from 'express';
import { ServiceError } from '../errors/service-error';

/** Escaped bytes beyond ASCII are rare, so most texts need no second look. */
const BEYOND_ASCII = /%[89a-f]/i;

/**
 * Checks the escaped bytes of a query or form. `URLSearchParams` decodes bytes that are no UTF-8 to U+FFFD, so a search
 * would look for another text. A `%` without two digits is kept as sent, as browsers do.
 * @param what the name of the text in the error message
 * @throws ServiceError 'invalid' if the bytes are no UTF-8
 */
export function assertUtf8(what: string, text: string): void {
  if (!BEYOND_ASCII.test(text)) return;
  for (const [escapes] of text.matchAll(/(?:%[\da-f]{2})+/gi)) {
    try {
      decodeURIComponent(escapes);
    } catch (cause) {
      throw new ServiceError(
        'url-malformed',
        `${what} cannot be decoded: "${escapes.slice(0, 64)}" is no UTF-8. Escape the UTF-8 bytes of each character.`,
        {},
        { cause },
      );
    }
  }
}

/** Refuses a URL whose query is no UTF-8, as Express refuses such a path. */
export const refuseUndecodable: RequestHandler = ({ url }, _response, next) => {
  const start = url.indexOf('?');
  if (start !== -1) assertUtf8('The query', url.slice(start + 1));
  next();
};
