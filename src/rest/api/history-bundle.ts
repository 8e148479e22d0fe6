import { type FhirAnswer } from '../../fhir/edge/fhir-answer';
import { printBookmark } from '../../resource/feed-bookmark';
import { type LateTexts } from '../../store/late-texts';
import { type HistoryPage, type HistoryVersion } from '../../resource/resource-history';
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
  const members = {
    ...(total === undefined ? {} : { total }),
    link: pageLinks(page, query, `${at.rootUrl}/${at.path}`),
  };
  return { status: 200, produce: produceBundle('history', members, entriesOf(versions, query, texts, at.rootUrl)) };
}

const entriesOf = (
  versions: readonly HistoryVersion[],
  query: HistoryQuery,
  texts: LateTexts,
  rootUrl: string,
): AsyncGenerator<string[], void, void> =>
  texts.printed(versions, async (some) =>
    (await texts.partsOf(some, query.subset)).map((version) => historyEntry(rootUrl, version)),
  );

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
  // If the client reached this page by a link `next`, the page with that link is the previous one. If it reached this
  // page by a link `previous`, the page with that link is the next one.
  if (first !== undefined && (isOlder ? !isFirst : hasMore)) {
    links.push(linkTo('previous', ['_after', printHistoryPosition(first)]));
  }
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
