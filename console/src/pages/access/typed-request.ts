/** A request as a person describes it. */
export interface TypedRequest {
  readonly method: string;
  /** Path and query below the server's address. */
  readonly uri: string;
}

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/**
 * Parses a pasted text: a path, a whole URL, or `GET /fhir/Patient/p7`.
 * @param method for texts without a method
 */
export function typedRequest(text: string, method: string): TypedRequest {
  const [, named, rest = ''] = /^([A-Za-z]+)(?:\s+(\S.*))?$/s.exec(text.trim()) ?? [];
  const isMethod = METHODS.some((one) => one === named?.toUpperCase());
  const place = isMethod ? rest : text.trim();
  return { method: isMethod ? (named ?? '').toUpperCase() : method, uri: uriOf(place) };
}

function uriOf(place: string): string {
  const below = place.replace(/^https?:\/\/[^/?#]*/i, '').replace(/#.*/s, '');
  return below.startsWith('/') ? below : `/${below}`;
}

const DECISION = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/i;

/**
 * Finds the id of a decision in a pasted text: in the error message of a refusal, or the id alone. Such a message may
 * also contain the id of the request, which is not returned.
 */
export function decisionIdIn(text: string): string | undefined {
  const named = new RegExp(String.raw`decisions/(${DECISION.source})`, 'i').exec(text)?.[1];
  return (named ?? DECISION.exec(text)?.[0])?.toLowerCase();
}

/** The read that got a 404, if the text of the 404 names its resource: `Patient/p7`. */
export function refusedReadIn(text: string): string | undefined {
  const [, named] = /\b([A-Z][A-Za-z]+\/[A-Za-z0-9.-]{1,64})(?=[\s"',:;]|\.?$|\. )/.exec(text) ?? [];
  return named === undefined ? undefined : `GET /fhir/${named.replace(/\.$/, '')}`;
}

/** The type and id that a path of the resource API names. */
export function resourceIn(uri: string): { readonly type: string; readonly id: string } | undefined {
  const [, type, id] = /^(?:\/fhir)?\/([A-Z][A-Za-z]*)\/([A-Za-z0-9.-]{1,64})\/?(?:\?|$)/.exec(uri) ?? [];
  return type === undefined || id === undefined ? undefined : { type, id };
}
