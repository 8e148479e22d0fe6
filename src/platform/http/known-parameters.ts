import { ServiceError } from '../errors/service-error';

/** Query parameters allowed for every answer that is one JSON text. */
export const SHAPE_PARAMETERS = ['_format', '_pretty'];

/** Query parameters allowed for an answer that is one resource. */
export const RESOURCE_PARAMETERS = [...SHAPE_PARAMETERS, '_summary', '_elements'];

/** Whether `Prefer` asks to ignore unknown parameters (http://hl7.org/fhir/R4/search.html#errors). */
export const isLenient = (prefer: string | undefined): boolean =>
  /(^|[\s;,])handling=lenient($|[\s;,])/.test(prefer ?? '');

/**
 * @param what the request, in words of the caller
 * @throws ServiceError 'invalid' for a query parameter that would be ignored, unless `Prefer` requests that
 */
export function assertKnownParameters(
  what: string,
  query: URLSearchParams,
  known: readonly string[],
  prefer: string | undefined,
): void {
  if (isLenient(prefer)) return;
  const unknown = [...query.keys()].find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const remedy = known.length === 0 ? 'no query parameters' : known.join(', ');
  throw new ServiceError(
    'invalid',
    `${what} does not know the parameter "${unknown.slice(0, 64)}"; it takes ${remedy}.`,
    { code: 'parameter-unknown' },
  );
}
