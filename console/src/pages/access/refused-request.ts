/** The request of a decision in words: `GET Patient (FhirRead)`. A decision contains no ids and no values. */
export function requestText(request: Readonly<Record<string, unknown>>): string {
  const { method, resourceType, rpcMethod, operation } = request;
  const what = [rpcMethod, resourceType].find((one) => typeof one === 'string') ?? '';
  const named = typeof operation === 'string' && operation !== 'rpc' ? `(${operation})` : '';
  return [typeof method === 'string' ? method.toUpperCase() : '', what, named].filter((part) => part !== '').join(' ');
}

/** Operations on one resource. A request for one of them needs an id, which a decision does not contain. */
const OF_ONE = new Set(['FhirRead', 'FhirVread', 'FhirHistory', 'FhirUpdate', 'FhirPatch', 'FhirDelete']);

/** The text with which the request form begins: the request of a decision, as far as the decision contains it. */
export function requestLike(request: Readonly<Record<string, unknown>>): string {
  const { method, resourceType, rpcMethod, operation } = request;
  const verb = typeof method === 'string' ? method.toUpperCase() : 'GET';
  if (rpcMethod !== undefined) return `${verb} /rpc`;
  const type = typeof resourceType === 'string' ? resourceType : '';
  return `${verb} /fhir/${type}${OF_ONE.has(String(operation)) ? '/' : ''}`;
}
