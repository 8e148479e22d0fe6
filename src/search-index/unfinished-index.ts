import { ServiceError } from '../platform/errors/service-error';
import { type SearchParameter } from './extract/search-parameter';
import { type SearchParameterSet } from './extract/search-parameter-set';

/**
 * Bounds of the time after which a client is asked to retry. Before 10 s, a retry finds little progress; after minutes,
 * a client would wait longer than needed.
 */
const SOONEST_RETRY_SECONDS = 10;
const LATEST_RETRY_SECONDS = 120;

/** An issue of the OperationOutcome that an answer holds beside its matches. */
export interface OutcomeIssue {
  readonly severity: 'warning';
  readonly code: 'incomplete' | 'too-costly' | 'suppressed';
  readonly diagnostics: string;
}

/** The error for requests that need complete and correct matches, and so cannot use an unfinished index. */
export function unfinishedIndex(parameter: SearchParameter, parameters: SearchParameterSet): ServiceError {
  const { percent = 0, secondsLeft } = parameters.progressOf(parameter) ?? {};
  return new ServiceError(
    'index-building',
    `The index of ${parameter.type}.${parameter.code} is being built: ${percent} % are done${timeLeft(secondsLeft)}. Try again later.`,
    { retryAfterSeconds: Math.min(LATEST_RETRY_SECONDS, Math.max(SOONEST_RETRY_SECONDS, secondsLeft ?? 0)) },
  );
}

/** @throws ServiceError 'busy' while the index is being built */
export function assertFinished(parameter: SearchParameter | undefined, parameters: SearchParameterSet): void {
  if (parameter !== undefined && parameters.isUnfinished(parameter)) throw unfinishedIndex(parameter, parameters);
}

/**
 * The warning of an answer whose search used an unfinished index. The answer has it even if the index was completed in
 * the meantime.
 */
export function unfinishedWarning(parameter: SearchParameter, parameters: SearchParameterSet): OutcomeIssue {
  const progress = parameters.progressOf(parameter);
  let state = '';
  if (progress !== undefined) {
    const { percent, secondsLeft, definitionId } = progress;
    const place = `SearchParameter/${definitionId === null ? '' : `${definitionId}/`}$index-status`;
    state = `: ${percent} % are done${timeLeft(secondsLeft)} (${place})`;
  }
  const diagnostics = `Resources may be missing or out of place: the index of ${parameter.type}.${parameter.code} was still being built${state}.`;
  return { severity: 'warning', code: 'incomplete', diagnostics };
}

const timeLeft = (seconds: number | undefined): string =>
  seconds === undefined ? '' : `, about ${seconds} s are left`;
