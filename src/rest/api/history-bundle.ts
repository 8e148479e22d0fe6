import { type FhirAnswer } from '../../fhir/edge/fhir-answer';
import { printBookmark } from '../../resource/feed-bookmark';
import { type LateTexts } from '../../store/late-texts';
import { type HistoryPage } from '../../resource/resource-history';
import { printHistoryPosition } from '../../store/history-position';
import { type HistoryQuery } from './history-request';
import { type PageLink } from './search-links';
import { produceBundle } from '../../model/bundle-text';
import { historyEntry } from './resource-answer';

/**
 * Makes the Bundle of a page. Its links hold the position of the first and the last version instead of page numbers. So
 * the next page begins where this one ended, even if versions are written in the meantime.
 */
export function historyBundle(
  page: HistoryPage,
  query: HistoryQuery,
  texts: LateTexts,
  at: { rootUrl: string; path: string },
): FhirAnswer {
  const { versions, total } = page;
  const link = pageLinks(page, query, `${at.rootUrl}/${at.path}`);
  const entries = texts.printed(versions, async (some) =>
    (await texts.partsOf(some, query.subset)).map((version) => historyEntry(at.rootUrl, version)),
  );
  return {
    status: 200,
    produce: produceBundle('history', { ...(total === undefined ? {} : { total }), link }, entries),
  };
}

type Changed = readonly [name: '_before' | '_after' | '_page' | '_txid', value: string];

function pageLinks(
  { versions, hasMore, bookmark }: HistoryPage,
  { used, walk, page }: HistoryQuery,
  url: string,
): PageLink[] {
  const linkTo = (relation: string, changed?: Changed): PageLink => {
    const parameters = new URLSearchParams(used);
    if (changed !== undefined) parameters.set(...changed);
    return { relation, url: `${url}?${parameters.toString()}` };
  };
  const isOlder = walk.direction === 'older';
  const [first, last, from] = [versions[0], versions.at(-1), walk.from];
  const links = [linkTo('self', positionOf(walk, page))];
  const isFirst = from === undefined && (page ?? 1) === 1;
  if (!isFirst) links.push(linkTo('first'));
  // The page from which the client came by a link `next` is the previous one; by a link `previous`, the next one.
  if (first !== undefined && (isOlder ? !isFirst : hasMore))
    links.push(linkTo('previous', ['_after', printHistoryPosition(first)]));
  if (last !== undefined && (isOlder ? hasMore : true))
    links.push(linkTo('next', ['_before', printHistoryPosition(last)]));
  // The links lead to older versions, so only the first page can link to later changes. RFC 5989 defines the relation
  // `monitor`.
  if (isFirst && bookmark !== undefined) links.push(linkTo('monitor', ['_txid', printBookmark(bookmark)]));
  return links;
}

function positionOf({ from, direction }: HistoryQuery['walk'], page: number | undefined): Changed | undefined {
  if (from !== undefined) return [direction === 'older' ? '_before' : '_after', printHistoryPosition(from)];
  return page === undefined ? undefined : ['_page', String(page)];
}
