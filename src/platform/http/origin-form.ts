import { type Server } from 'node:http';

/** The scheme and authority at the beginning of a request target in absolute form. */
const AUTHORITY = /^https?:\/\/[^/?#]*\/?/i;

/**
 * Rewrites request targets in absolute form (`GET http://host/metadata HTTP/1.1`) to origin form (`GET /metadata`). A
 * server must accept both (RFC 9112, section 3.2.2). The host is ignored, as `Host` is: links begin with `BASE_URL`.
 * Express routes by the path of either form, but other code compares the target as sent, such as that which reads the
 * bodies below `/auth/`.
 */
export function useOriginForm(server: Server): void {
  server.prependListener('request', (request) => {
    request.url = request.url?.replace(AUTHORITY, '/');
  });
}
