import { ServiceError } from '../platform/errors/service-error';
import { type SearchParameter } from './extract/search-parameter';
import { type SearchParameterSet } from './extract/search-parameter-set';

/**
 * Bounds of the time after which a client is asked to retry. Before 10 s, a retry finds little progress; after minutes,
 * a client would wait longer than needed.
 */
const SOONEST_RETRY_SECONDS = 10;
const LATEST_RETRY_SECONDS = 120;

/** The error for requests that need complete and correct matches, and so cannot use an unfinished index. */
export function unfinishedIndex(parameter: SearchParameter, parameters: SearchParameterSet): ServiceError {
  const { percent = 0, secondsLeft } = parameters.progressOf(parameter) ?? {};
  const left = secondsLeft === undefined ? '' : `, about ${secondsLeft} s are left`;
  return new ServiceError(
    'index-building',
    `The index of ${parameter.type}.${parameter.code} is being built: ${percent} % are done${left}. Try again later.`,
    { retryAfterSeconds: Math.min(LATEST_RETRY_SECONDS, Math.max(SOONEST_RETRY_SECONDS, secondsLeft ?? 0)) },
  );
}

/** @throws ServiceError 'busy' while the index is being built */
export function assertFinished(parameter: SearchParameter | undefined, parameters: SearchParameterSet): void {
  if (parameter !== undefined && parameters.isUnfinished(parameter)) throw unfinishedIndex(parameter, parameters);
}
