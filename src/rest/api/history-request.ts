import { dateParameter } from '../../fhir/instant';
import { readSubset } from '../../fhir/subset/read-subset';
import { type Subset } from '../../fhir/subset/subset';
import { parameterInvalid } from '../../platform/errors/parameter-invalid';
import { ServiceError } from '../../platform/errors/service-error';
import { parseBookmark } from '../../resource/feed-bookmark';
import { type HistoryRequest } from '../../resource/resource-history';
import { assertGivenOnce, assertKnownParameters } from '../../platform/http/known-parameters';
import { countOf, totalModeOf } from '../../search/query/result-parameters';
import { type HistoryScope } from '../../store/history-statements';
import { parseHistoryPosition } from '../../store/history-position';

const PARAMETERS = [
  ...['_since', '_at', '_txid', '_count', '_page', '_sort', '_total', '_summary', '_elements', '_format', '_pretty'],
  ...['_before', '_after'],
];
/**
 * Parameters that the links between pages repeat. `_format` and `_pretty` do not select versions, but the linked page
 * needs them.
 */
const IN_LINKS = ['_since', '_at', '_txid', '_sort', '_total', '_summary', '_elements', '_format', '_pretty'];

/**
 * Maximum number of versions that a request with a page number may skip, since they must all be read. A link continues
 * from the last version of a page, and has no such cost.
 */
const LARGEST_SKIP = 10_000;

/** The resources whose versions are listed. */
export type AskedHistory = Pick<HistoryScope, 'types' | 'id'>;

export interface HistoryQuery extends HistoryRequest {
  /** Page number, from 1; undefined if the page is not requested by number. */
  readonly page: number | undefined;
  readonly subset: Subset | undefined;
  /** The parameters that were applied, without those of the position. */
  readonly used: URLSearchParams;
}

/**
 * Reads the parameters of a history (http://hl7.org/fhir/R4/http.html#history). `_since`, `_at` and `_txid` limit it;
 * `_before` and `_after`, or `_page`, select a page. R4 defines the order, so `_sort` may only repeat it.
 * @param prefer the header `Prefer`, which may request that unknown parameters are ignored
 * @throws ServiceError 'invalid' for a parameter that is unknown, repeated or malformed
 */
export function readHistoryQuery(query: URLSearchParams, of: AskedHistory, prefer: string | undefined): HistoryQuery {
  assertKnownParameters('A history', query, PARAMETERS, prefer);
  const single = PARAMETERS.filter((name) => name !== '_elements');
  assertGivenOnce(query, single);
  const valueOf = (name: string): string | undefined =>
    query.get(name) === '' ? undefined : (query.get(name) ?? undefined);
  if (!['-_lastUpdated', undefined].includes(valueOf('_sort')))
    throw parameterInvalid('A history is sorted by -_lastUpdated, newest first, and no other way.');
  const [since, at] = [valueOf('_since'), valueOf('_at')];
  const period = at === undefined ? undefined : dateParameter('_at', at);
  const subset = readSubset(query, { types: of.types, prefer });
  const count = subset === 'count' ? 0 : countOf(query);
  const used = new URLSearchParams();
  for (const name of IN_LINKS) for (const value of query.getAll(name)) if (value !== '') used.append(name, value);
  const txid = valueOf('_txid');
  const bookmark = txid === undefined ? undefined : parseBookmark(txid);
  const page = pageOf(valueOf('_page'), count);
  if (subset !== 'count') used.set('_count', String(count));
  return {
    scope: {
      ...of,
      ...(since === undefined ? {} : { since: new Date(dateParameter('_since', since).low) }),
      ...(period === undefined ? {} : { period: { start: new Date(period.low), end: new Date(period.high) } }),
      ...(bookmark?.history === undefined ? {} : { afterTransaction: bookmark.transaction }),
    },
    ...(bookmark === undefined ? {} : { bookmark }),
    walk: walkOf(valueOf('_before'), valueOf('_after'), page, count),
    page,
    count,
    hasTotal: totalModeOf(valueOf('_total')) !== 'none' || count === 0,
    subset: subset === 'count' ? undefined : subset,
    used,
  };
}

function walkOf(
  before: string | undefined,
  after: string | undefined,
  page: number | undefined,
  count: number,
): HistoryRequest['walk'] {
  if ([before, after, page].filter((value) => value !== undefined).length > 1)
    throw new ServiceError('parameters-exclusive', 'Use one of _before, _after and _page.');
  if (after !== undefined) return { direction: 'newer', from: parseHistoryPosition(after), skip: 0 };
  if (before !== undefined) return { direction: 'older', from: parseHistoryPosition(before), skip: 0 };
  return { direction: 'older', skip: ((page ?? 1) - 1) * count };
}

function pageOf(text: string | undefined, count: number): number | undefined {
  if (text === undefined) return undefined;
  const page = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (page === 0) throw parameterInvalid('_page must be a whole number from 1 on.');
  if ((page - 1) * count <= LARGEST_SKIP) return page;
  throw parameterInvalid(`_page leads to the first ${LARGEST_SKIP} versions; to go on, follow the "next" links.`);
}
