import { type Client, settingsOf } from '../client/client';
import { OAuthError } from '../oauth/oauth-error';
import { type TokenOrder } from '../token/token-issuer';
import { type TokenRequest } from '../oauth/token-request';

/**
 * Checks the requested scope and audience against the Client, before anything expensive runs.
 * @param baseUrl the address of this server, which is always an allowed audience
 * @throws OAuthError invalid_scope, invalid_target
 */
export function requestedGrant(client: Client, request: TokenRequest, baseUrl: string): Omit<TokenOrder, 'user'> {
  const { grantType } = request;
  const scope = grantedScope(request.parameter('scope'), client.scopes);
  if (scope === null) throw new OAuthError('invalid_scope', 'scope must hold only what the scope of the client lists');
  const audience = request.parameter('audience');
  if (audience !== undefined && audience !== baseUrl && !settingsOf(client, grantType).audience.includes(audience))
    throw new OAuthError('invalid_target', 'audience must be one of those of the client');
  return { client, grantType, scope, audience };
}

/** Whether a text is a scope token. RFC 6749, section 3.3: printable ASCII without space, `"` and `\`. */
export const isScopeToken = (text: string): boolean => /^[\x21\x23-\x5B\x5D-\x7E]{1,256}$/.test(text);

/**
 * @param requested the scope tokens as sent, separated by single spaces
 * @param allowed the scope tokens that may be granted
 * @returns the distinct scope tokens; undefined when no scope was requested; null for a malformed or forbidden scope
 */
export function grantedScope(requested: string | undefined, allowed: readonly string[]): string | undefined | null {
  if (requested === undefined) return undefined;
  const tokens = requested.split(' ');
  const mayBeHad = tokens.every((token) => isScopeToken(token) && allowed.includes(token));
  return mayBeHad ? [...new Set(tokens)].join(' ') : null;
}
