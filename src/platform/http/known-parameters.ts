import { ServiceError } from '../errors/service-error';

/** Query parameters for an answer of one JSON text. */
export const SHAPE_PARAMETERS = ['_format', '_pretty'];

/** Query parameters for an answer of one resource. */
export const RESOURCE_PARAMETERS = [...SHAPE_PARAMETERS, '_summary', '_elements'];

/** Whether the header `Prefer` asks to ignore unknown parameters (http://hl7.org/fhir/R4/search.html#errors). */
export const isLenient = (prefer: string | undefined): boolean =>
  /(^|[\s;,])handling=lenient($|[\s;,])/.test(prefer ?? '');

/** The header `Prefer` without the wish to ignore unknown parameters. */
export const strictPrefer = (prefer: string): string => prefer.replaceAll('handling=lenient', 'handling=strict');

/**
 * @param what the name of the request in the error message
 * @throws ServiceError 'invalid' for an unknown query parameter, unless `Prefer` asks to ignore it
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
    'parameter-unknown',
    `${what} does not know the parameter "${unknown.slice(0, 64)}"; it takes ${remedy}.`,
  );
}

/** @throws ServiceError 'invalid' for one of `names` that is given more than once */
export function assertGivenOnce(query: URLSearchParams, names: readonly string[]): void {
  const repeated = names.find((name) => query.getAll(name).length > 1);
  if (repeated !== undefined)
    throw new ServiceError('parameter-repeated', `${repeated.slice(0, 64)} is given twice. Send it once.`);
}
