import { operationIdOfCode } from '../../platform/http/route-access';
import { type RouteValues } from '../request/route-params';
import { WRITE_IDS } from '../../resource/access/entry-access';

/** The route of the resource API that a request would reach, as far as policies distinguish routes. */
export interface DescribedRoute extends RouteValues {
  readonly operationId?: string;
}

/**
 * Derives the route from the method and path of a described request. No route is called.
 * @param method the method in lower case
 * @param isConditional whether a create has criteria (a conditional create)
 */
export function routeOf(method: string, uri: string, isConditional = false): DescribedRoute {
  const [first, ...rest] = uri.split('/').filter((segment) => segment !== '');
  const steps = first === 'fhir' ? rest : [...(first === undefined ? [] : [first]), ...rest];
  const read = method === 'head' ? 'get' : method;
  const last = steps.at(-1) ?? '';
  const [type, id, third] = steps;
  const operation = operationCodeOf(last);
  if (steps.length === 0) return operationIs({ post: 'FhirBundle', get: 'FhirSearchSystem' }[read]);
  if (steps.length === 1 && type === '_search') return operationIs(read === 'post' ? 'FhirSearchSystem' : undefined);
  if (steps.length === 1 && operation !== undefined) return { operationId: operation };
  if (steps.length === 1 && type === '_history') return operationIs('FhirHistorySystem');
  if (steps.length === 1 && type === 'rpc' && first !== 'fhir') return operationIs('rpc');
  if (type === undefined || !/^[A-Z][A-Za-z]*$/.test(type)) return {};
  if (steps.length === 1)
    return {
      type,
      ...operationIs(read === 'get' ? 'FhirSearch' : writeIdOf(method, method !== 'post' || isConditional)),
    };
  if (steps.length === 2) return { type, ...ofType(read, last, operation) };
  const at = { type, ...(id === undefined ? {} : { id }) };
  if (steps.length === 3 && operation !== undefined) return { ...at, operationId: operation };
  if (steps.length === 3 && third === '_history') return { ...at, operationId: 'FhirHistory' };
  if (steps.length === 3) return { ...at, type: last, compartment: type, operationId: 'FhirCompartmentSearch' };
  return { ...at, ...operationIs(steps.length === 4 && third === '_history' ? 'FhirVread' : undefined) };
}

function ofType(method: string, last: string, operation: string | undefined): DescribedRoute {
  if (operation !== undefined) return { operationId: operation };
  if (last === '_search') return operationIs(method === 'post' ? 'FhirSearch' : undefined);
  if (last === '_history') return operationIs('FhirHistoryType');
  const writeId = method === 'post' ? undefined : writeIdOf(method, false);
  return { id: last, ...operationIs(method === 'get' ? 'FhirRead' : writeId) };
}

function writeIdOf(method: string, isByCriteria: boolean): string | undefined {
  const ids = Object.entries(WRITE_IDS).find(([name]) => name === method.toUpperCase())?.[1];
  return ids?.[isByCriteria ? 1 : 0];
}

const operationIs = (operationId: string | undefined): DescribedRoute =>
  operationId === undefined ? {} : { operationId };

function operationCodeOf(segment: string): string | undefined {
  const [, code] = /^\$([\w-]+)$/.exec(segment) ?? [];
  return code === undefined ? undefined : operationIdOfCode(code);
}
