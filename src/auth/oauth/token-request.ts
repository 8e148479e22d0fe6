import { type Request } from 'express';
import { errorCodeOf } from '../../platform/errors/service-error';
import { authorizationOf, bodyOf, mediaTypeOf, queryOf } from '../../platform/http/raw-request';
import { decodeUtf8 } from '../../platform/json/decode-utf8';
import { JsonBodyError } from '../../platform/json/json-body-error';
import { readJson } from '../../platform/json/read-json';
import { isObject } from '../../platform/json/plain-object';
import { basicCredentialsOf, type BasicCredentials } from './basic-credentials';
import { OAuthError } from './oauth-error';

/** A request to the token endpoint, whether its body was a form or JSON. */
export interface TokenRequest {
  readonly grantType: string;
  /** The client's credentials from the header or the body. */
  readonly client: BasicCredentials;
  /**
   * Returns a parameter of the body; an empty one counts as missing (RFC 6749, section 3.2).
   * @throws OAuthError invalid_request for a value that is no text
   */
  parameter(name: string): string | undefined;
}

/** @throws OAuthError invalid_request, invalid_client */
export function readTokenRequest(request: Request): TokenRequest {
  const parameters = readParameters(request);
  const grantType = parameters.parameter('grant_type');
  if (grantType === undefined) throw new OAuthError('invalid_request', 'grant_type is missing');
  return { grantType, client: clientCredentialsOf(request, parameters), ...parameters };
}

/**
 * Finds the client's credentials in a Basic header or in the body.
 * @throws OAuthError invalid_request for missing credentials, or for credentials that were sent twice and differ;
 * invalid_client for a scheme other than Basic
 */
export function clientCredentialsOf(request: Request, parameters: RequestParameters): BasicCredentials {
  const authorization = authorizationOf(request);
  const id = parameters.parameter('client_id');
  const secret = parameters.parameter('client_secret');
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

/** Parameters of a request to an OAuth endpoint. Parameters that no code reads are ignored (RFC 6749, section 3.2). */
export type RequestParameters = Pick<TokenRequest, 'parameter'>;

/**
 * Reads a form or JSON body (interface specification, "Token issuance").
 * @throws OAuthError invalid_request for repeated parameters, parameters in the URL, other bodies
 */
export function readParameters(request: Request): RequestParameters {
  // RFC 6749, section 2.3.1: credentials "MUST NOT be included in the request URI", since URIs end up in logs. Each
  // parameter may be the credential of some grant, so none is allowed in the URL.
  if (queryOf(request).size > 0) throw new OAuthError('invalid_request', 'Send parameters in the body, not in the URL');
  const members = bodyMembersOf(request);
  return { parameter: (name) => parameterOf(members.get(name), name) };
}

/** @param name the name of a known parameter. Errors show it; an unknown name might be a misplaced secret */
function parameterOf(value: unknown, name: string): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'string') throw new OAuthError('invalid_request', `${name} must be a string`);
  // No valid name, password or token contains a NUL character, and a text of PostgreSQL cannot hold one.
  if (value.includes('\0')) throw new OAuthError('invalid_request', `${name} holds a NUL character`);
  return value;
}

function bodyMembersOf(request: Request): ReadonlyMap<string, unknown> {
  const read = READERS.get(mediaTypeOf(request));
  if (read === undefined)
    throw new OAuthError(
      'invalid_request',
      'Send the parameters as application/x-www-form-urlencoded or application/json',
    );
  try {
    return read(decodeUtf8(bodyOf(request)));
  } catch (error) {
    if (error instanceof JsonBodyError) throw new OAuthError('invalid_request', bodyFault(error));
    throw error;
  }
}

/** Says where a body is wrong, without its keys: a key may be a misplaced secret, and the log has this text too. */
function bodyFault(error: JsonBodyError): string {
  const { message, place } = error;
  if (place === undefined) return message;
  const fault = errorCodeOf(error).replace('body-', '').replaceAll('-', ' ');
  return `The body is not valid JSON: ${fault} at line ${place.line}, column ${place.column}`;
}

function formMembers(text: string): ReadonlyMap<string, unknown> {
  // Clients such as curl send a body as a form unless they are given a type. No parameter begins with a brace.
  if (text.startsWith('{'))
    throw new OAuthError('invalid_request', 'The body looks like JSON: send it with Content-Type: application/json');
  try {
    decodeURIComponent(text);
  } catch {
    throw new OAuthError('invalid_request', 'The body is not a form in UTF-8');
  }
  // URLSearchParams strips a "?" at the start of its text. With "&" in front, a "?" sent by the client stays.
  const pairs = [...new URLSearchParams(`&${text}`)];
  const parameters = new Map(pairs);
  // RFC 6749, section 3.2: "Request and response parameters MUST NOT be included more than once."
  if (parameters.size < pairs.length) throw new OAuthError('invalid_request', 'A parameter is repeated');
  return parameters;
}

function jsonMembers(text: string): ReadonlyMap<string, unknown> {
  if (text === '') throw new OAuthError('invalid_request', 'The body is empty: send the parameters as a JSON object');
  const { value } = readJson(text);
  if (!isObject(value)) throw new OAuthError('invalid_request', 'The body must be one JSON object');
  return new Map(Object.entries(value));
}

const READERS = new Map<string | undefined, (text: string) => ReadonlyMap<string, unknown>>([
  ['application/x-www-form-urlencoded', formMembers],
  ['application/json', jsonMembers],
]);
