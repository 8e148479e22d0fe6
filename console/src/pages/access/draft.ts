import { METHODS, typedRequest } from './typed-request';

/** A request as typed into the form. */
export interface Draft {
  readonly who: 'user' | 'client';
  /** The id, user name or email of the User. */
  readonly user: string;
  /** The id of the Client; optional for a token of a User. */
  readonly client: string;
  readonly method: string;
  readonly request: string;
  readonly body: string;
  readonly address: string;
}

export const EMPTY_DRAFT: Draft = {
  who: 'user',
  user: '',
  client: '',
  method: 'GET',
  request: '',
  body: '',
  address: '',
};

export const takesBody = (method: string): boolean => ['POST', 'PUT', 'PATCH'].includes(method);

/** The faults of a draft, by field. */
export function faultsIn(draft: Draft): Readonly<Partial<Record<'user' | 'client' | 'request' | 'body', string>>> {
  const { who, user, client, request, body } = draft;
  return {
    ...(who === 'user' && user.trim() === '' ? { user: 'Name the user who asks.' } : {}),
    ...(who === 'client' && client.trim() === '' ? { client: 'Name the client that asks.' } : {}),
    ...(request.trim() === '' ? { request: 'Name what is asked for, such as /fhir/Patient/p7.' } : {}),
    ...(takesBody(draft.method) && body.trim() !== '' && readBody(body) === undefined
      ? { body: 'This is not JSON.' }
      : {}),
  };
}

/** The draft with the method that its request text begins with, as in `PUT /fhir/Patient/p7`. */
export function withMethodOf(draft: Draft, request: string): Draft {
  const { method, uri } = typedRequest(request, draft.method);
  const names = new RegExp(String.raw`^\s*(?:${METHODS.join('|')})\s+\S`, 'i');
  return names.test(request) || /^\s*https?:/i.test(request)
    ? { ...draft, method, request: uri }
    : { ...draft, request };
}

/**
 * The description of the request for the server.
 * @param userId the id of the draft's user
 */
export function describedBy(draft: Draft, userId: string): Record<string, unknown> {
  const { method, uri } = typedRequest(draft.request, draft.method);
  const [client, address, body] = [draft.client.trim(), draft.address.trim(), readBody(draft.body)];
  return {
    'request-method': method.toLowerCase(),
    uri,
    ...(draft.who === 'user' ? { 'user-id': userId } : {}),
    ...(client === '' ? {} : { 'client-id': client }),
    ...(address === '' ? {} : { 'remote-addr': address }),
    ...(takesBody(method) && body !== undefined ? { body } : {}),
  };
}

function readBody(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
