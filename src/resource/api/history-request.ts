import { type DateRange, dateSpanOf } from '../../fhir/instant';
import { readSubset } from '../../fhir/read-subset';
import { type Subset } from '../../fhir/subset';
import { ServiceError } from '../../platform/errors/service-error';
import { type HistoryRequest } from '../resource-history';
import { countOf, isLenient } from '../search/result-parameters';
import { type HistoryScope } from '../store/history-statements';
import { parsePosition } from './history-position';

const PARAMETERS = [
  '_since',
  '_at',
  '_count',
  '_sort',
  '_total',
  '_summary',
  '_elements',
  '_format',
  '_pretty',
  '_before',
  '_after',
];
/** How an answer is written is no part of what it lists, but its links repeat it. */
const IN_LINKS = ['_since', '_at', '_sort', '_total', '_summary', '_elements', '_format', '_pretty'];

export interface HistoryQuery extends HistoryRequest {
  readonly subset: Subset | undefined;
  /** The parameters that were used, without the position. */
  readonly used: URLSearchParams;
}

/**
 * Reads the parameters of a history (http://hl7.org/fhir/R4/http.html#history): `_since` and `_at` limit it, `_before` and
 * `_after` continue it. It is sorted as R4 says, so `_sort` may only say the same.
 * @param prefer the header, which may ask to ignore unknown parameters
 * @throws ServiceError 'invalid' for a parameter that is unknown, repeated or malformed
 */
export function readHistoryQuery(
  query: URLSearchParams,
  of: Pick<HistoryScope, 'types' | 'id'>,
  prefer: string | undefined,
): HistoryQuery {
  assertKnown(query, isLenient(prefer));
  const valueOf = (name: string): string | undefined =>
    query.get(name) === '' ? undefined : (query.get(name) ?? undefined);
  if (!['-_lastUpdated', undefined].includes(valueOf('_sort'))) {
    throw new ServiceError('invalid', 'A history is sorted by -_lastUpdated, newest first, and no other way.');
  }
  const [since, at] = [valueOf('_since'), valueOf('_at')];
  const period = at === undefined ? undefined : rangeOf('_at', at);
  const subset = readSubset(query);
  const count = subset === 'count' ? 0 : countOf(query);
  const used = new URLSearchParams(
    IN_LINKS.flatMap((name) => query.getAll(name).map((value): [string, string] => [name, value])),
  );
  if (subset !== 'count') used.set('_count', String(count));
  return {
    scope: {
      ...of,
      ...(since === undefined ? {} : { since: new Date(rangeOf('_since', since).low) }),
      ...(period === undefined ? {} : { period: { start: new Date(period.low), end: new Date(period.high) } }),
    },
    walk: walkOf(valueOf('_before'), valueOf('_after')),
    count,
    hasTotal: hasTotalOf(valueOf('_total')) || count === 0,
    subset: subset === 'count' ? undefined : subset,
    used,
  };
}

function assertKnown(query: URLSearchParams, isLenientCall: boolean): void {
  for (const name of query.keys()) {
    if (!PARAMETERS.includes(name) && !isLenientCall) {
      throw new ServiceError(
        'invalid',
        `A history does not know "${name.slice(0, 64)}"; it takes ${PARAMETERS.slice(0, 9).join(', ')}.`,
      );
    }
    if (name !== '_elements' && PARAMETERS.includes(name) && query.getAll(name).length > 1) {
      throw new ServiceError('invalid', `${name} is given twice.`);
    }
  }
}

function walkOf(before: string | undefined, after: string | undefined): HistoryRequest['walk'] {
  if (before !== undefined && after !== undefined)
    throw new ServiceError('invalid', 'Use _before or _after, not both.');
  if (after !== undefined) return { direction: 'newer', from: parsePosition(after) };
  return { direction: 'older', ...(before === undefined ? {} : { from: parsePosition(before) }) };
}

function hasTotalOf(total = 'accurate'): boolean {
  if (total === 'accurate' || total === 'estimate') return true;
  if (total === 'none') return false;
  throw new ServiceError('invalid', '_total must be accurate, estimate or none.');
}

/** An unencoded plus sign of a time zone arrives as a space. */
function rangeOf(name: string, text: string): DateRange {
  const span = dateSpanOf(text.replace(' ', '+'));
  if (span !== undefined) return span;
  throw new ServiceError('invalid', `${name} must be a time such as 2026-01-31T10:00:00Z, or a date.`);
}
