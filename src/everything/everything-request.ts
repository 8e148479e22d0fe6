import { ServiceError } from '../platform/errors/service-error';
import { dateSpanOf } from '../fhir/instant';
import { isLenient, timeoutOf } from '../resource/search/result-parameters';

/** What the underlying queries may take when nothing else is asked. */
const DEFAULT_TIMEOUT_SECONDS = 60;

const PARAMETERS = ['_since', '_timeout', '_format', '_pretty'];

export interface EverythingRequest {
  readonly since?: Date;
  readonly timeoutSeconds: number;
  /** The parameters that were used, as the `self` link shows them. */
  readonly used: URLSearchParams;
}

/**
 * Reads the parameters of `$everything` (interface, "Patient everything").
 * @throws ServiceError 'invalid' for a parameter that is unknown, repeated or malformed.
 */
export function readEverythingRequest(
  query: URLSearchParams,
  options: { prefer: string | undefined; maxTimeoutSeconds: number },
): EverythingRequest {
  for (const name of query.keys()) {
    if (!PARAMETERS.includes(name) && !isLenient(options.prefer)) {
      throw new ServiceError(
        'invalid',
        `$everything does not know "${name.slice(0, 64)}"; it takes _since and _timeout.`,
      );
    }
    if (query.getAll(name).length > 1) throw new ServiceError('invalid', `${name.slice(0, 64)} is given twice.`);
  }
  const used = new URLSearchParams();
  const since = query.get('_since');
  if (since !== null) used.set('_since', since);
  const asked = timeoutOf(query.get('_timeout'), options.maxTimeoutSeconds);
  const timeoutSeconds = asked ?? Math.min(DEFAULT_TIMEOUT_SECONDS, options.maxTimeoutSeconds);
  if (asked !== undefined) used.set('_timeout', String(asked));
  return { timeoutSeconds, used, ...(since === null ? {} : { since: sinceOf(since) }) };
}

/** "After this instant": a date alone stands for its beginning, so that nothing of that day is missed. */
function sinceOf(text: string): Date {
  // An unencoded plus sign of a time zone arrives as a space.
  const span = dateSpanOf(text.replace(' ', '+'));
  if (span === undefined) throw new ServiceError('invalid', '_since must be an instant such as 2026-01-31T10:00:00Z.');
  return new Date(span.low);
}
