import { type Client, settingsOf } from '../client/client';
import { OAuthError } from '../oauth/oauth-error';
import { grantedScope } from '../oauth/scope';
import { type TokenOrder } from '../token/token-issuer';
import { type TokenRequest } from '../oauth/token-request';

/**
 * Checks the requested grant, scope and audience against the Client, before anything expensive runs.
 * @param baseUrl the address of this server, which is always an allowed audience
 * @throws OAuthError unauthorized_client, invalid_scope, invalid_target
 */
export function requestedGrant(client: Client, request: TokenRequest, baseUrl: string): Omit<TokenOrder, 'user'> {
  const { grantType } = request;
  if (!client.grantTypes.includes(grantType))
    throw new OAuthError('unauthorized_client', `The client may not use the grant ${grantType}`);
  const scope = grantedScope(request.parameter('scope'), client.scopes);
  if (scope === null) throw new OAuthError('invalid_scope', 'scope must hold only what the scope of the client lists');
  const audience = request.parameter('audience');
  if (audience !== undefined && audience !== baseUrl && !settingsOf(client, grantType).audience.includes(audience))
    throw new OAuthError('invalid_target', 'audience must be one of those of the client');
  return { client, grantType, scope, audience };
}
