/** The request of a decision in words: `GET Patient (FhirRead)`. A decision keeps no ids and values. */
export function requestText(request: Readonly<Record<string, unknown>>): string {
  const { method, resourceType, rpcMethod, operation } = request;
  const what = [rpcMethod, resourceType].find((one) => typeof one === 'string') ?? '';
  const named = typeof operation === 'string' && operation !== 'rpc' ? `(${operation})` : '';
  return [typeof method === 'string' ? method.toUpperCase() : '', what, named].filter((part) => part !== '').join(' ');
}

/** The routes of one resource: a request like it needs an id, which the decision does not have. */
const OF_ONE = new Set(['FhirRead', 'FhirVread', 'FhirHistory', 'FhirUpdate', 'FhirPatch', 'FhirDelete']);

/** A request like that of a decision, as far as the decision knows it, for the form. */
export function requestLike(request: Readonly<Record<string, unknown>>): string {
  const { method, resourceType, rpcMethod, operation } = request;
  const verb = typeof method === 'string' ? method.toUpperCase() : 'GET';
  if (rpcMethod !== undefined) return `${verb} /rpc`;
  const type = typeof resourceType === 'string' ? resourceType : '';
  return `${verb} /fhir/${type}${OF_ONE.has(String(operation)) ? '/' : ''}`;
}
