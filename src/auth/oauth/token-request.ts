import { type Request } from 'express';
import { authorizationOf } from '../../platform/http/raw-request';
import { basicCredentialsOf, type BasicCredentials } from './basic-credentials';
import { OAuthError } from './oauth-error';
import { readParameters, type RequestParameters } from './request-parameters';

/** A request to the token endpoint, whichever of the request forms it took. */
export interface TokenRequest {
  readonly grantType: string;
  /** As the client authenticated, by header or body. */
  readonly client: BasicCredentials;
  /** A parameter of the request; an empty one counts as missing (RFC 6749, section 3.2). */
  parameter(name: string): string | undefined;
}

/** @throws OAuthError invalid_request, invalid_client */
export function readTokenRequest(request: Request): TokenRequest {
  const parameters = readParameters(request);
  const grantType = parameters.get('grant_type');
  if (grantType === undefined) throw new OAuthError('invalid_request', 'grant_type is missing');
  return { grantType, client: clientCredentialsOf(request, parameters), parameter: (name) => parameters.get(name) };
}

/**
 * Finds the client's credentials in a Basic header or in the body.
 * @throws OAuthError invalid_request for none, and for two that differ; invalid_client for another scheme than Basic
 */
export function clientCredentialsOf(request: Request, parameters: RequestParameters): BasicCredentials {
  const authorization = authorizationOf(request);
  const id = parameters.get('client_id');
  const secret = parameters.get('client_secret');
  if (authorization === undefined) {
    if (id === undefined) throw new OAuthError('invalid_request', 'client_id is missing');
    return { id, secrets: secret === undefined ? [] : [secret] };
  }
  const inHeader = basicCredentialsOf(authorization);
  if (inHeader === undefined)
    throw new OAuthError('invalid_client', 'The Authorization header holds no Basic client credentials');
  const differs =
    (id !== undefined && id !== inHeader.id) || (secret !== undefined && !inHeader.secrets.includes(secret));
  // RFC 6749, section 2.3: "The client MUST NOT use more than one authentication method in each request."
  if (differs) throw new OAuthError('invalid_request', 'Client credentials are sent twice and differ');
  return inHeader;
}
