import { type Request } from 'express';
import { bodyOf, mediaTypeOf } from '../platform/http/raw-request';
import { JsonBodyError } from '../platform/json/json-body-error';
import { decodeUtf8 } from '../platform/json/decode-utf8';
import { readJson } from '../platform/json/read-json';
import { basicCredentialsOf, type BasicCredentials } from './basic-credentials';
import { OAuthError } from './oauth-error';

/** The parameters of a token request, whichever of the three request forms it took. */
export interface TokenRequest {
  readonly grantType: string;
  /** As the client authenticated, by header or body. */
  readonly client: BasicCredentials;
  /** A parameter of the grant; an empty one counts as missing (RFC 6749, section 3.2). */
  parameter(name: string): string | undefined;
}

/**
 * Reads a form or JSON body with client credentials in it or in a Basic header (interface, "Token issuance").
 * @throws OAuthError invalid_request for repeated parameters, two different client authentications, other bodies.
 */
export function readTokenRequest(request: Request): TokenRequest {
  const parameters = parametersOf(request);
  const parameter = (name: string): string | undefined => parameters.get(name);
  const grantType = parameter('grant_type');
  if (grantType === undefined) throw new OAuthError('invalid_request', 'grant_type is missing');
  return { grantType, client: clientOf(request.headers.authorization, parameter), parameter };
}

function parametersOf(request: Request): ReadonlyMap<string, string> {
  switch (mediaTypeOf(request)) {
    case 'application/x-www-form-urlencoded':
      return formParameters(textOf(request));
    case 'application/json':
      return jsonParameters(textOf(request));
    default:
      throw new OAuthError(
        'invalid_request',
        'Send the parameters as application/x-www-form-urlencoded or application/json',
      );
  }
}

function textOf(request: Request): string {
  try {
    return decodeUtf8(bodyOf(request));
  } catch (error) {
    throw asInvalidRequest(error);
  }
}

function formParameters(text: string): Map<string, string> {
  const parameters = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(text)) {
    // RFC 6749, section 3.2: "Request and response parameters MUST NOT be included more than once."
    if (parameters.has(name)) throw new OAuthError('invalid_request', 'A parameter is repeated');
    parameters.set(name, value);
  }
  return withoutEmpty(parameters);
}

function jsonParameters(text: string): Map<string, string> {
  let value: unknown;
  try {
    ({ value } = readJson(text));
  } catch (error) {
    throw asInvalidRequest(error);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new OAuthError('invalid_request', 'The body must be one JSON object');
  }
  const entries = Object.entries(value).filter(([, member]) => member !== null && member !== undefined);
  for (const [name, member] of entries) {
    if (typeof member !== 'string' && KNOWN.has(name))
      throw new OAuthError('invalid_request', `${name} must be a string`);
  }
  return withoutEmpty(new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string')));
}

const KNOWN = new Set(['grant_type', 'client_id', 'client_secret', 'username', 'password', 'refresh_token', 'scope']);

const withoutEmpty = (parameters: ReadonlyMap<string, string>): Map<string, string> =>
  new Map([...parameters].filter(([, value]) => value !== ''));

function asInvalidRequest(error: unknown): unknown {
  return error instanceof JsonBodyError
    ? new OAuthError('invalid_request', 'The body is not valid: ' + error.kind)
    : error;
}

function clientOf(authorization: string | undefined, parameter: TokenRequest['parameter']): BasicCredentials {
  const id = parameter('client_id');
  const secret = parameter('client_secret');
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
