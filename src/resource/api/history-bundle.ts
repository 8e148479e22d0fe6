import { subsetOf } from '../../fhir/subset';
import { type HistoryPage } from '../resource-history';
import { type StoredVersion } from '../stored-resource';
import { printPosition } from './history-position';
import { type HistoryQuery } from './history-request';
import { bundleText, historyEntry } from './resource-answer';

interface Link {
  readonly relation: string;
  readonly url: string;
}

/**
 * The Bundle of a page. Its links go by the place of the first and last version, not by page numbers: whatever is
 * written meanwhile, the next page begins where this one ended.
 */
export function historyBundle(page: HistoryPage, query: HistoryQuery, at: { rootUrl: string; path: string }): string {
  const { versions, total } = page;
  const members = { ...(total === undefined ? {} : { total }), link: linksOf(page, query, `${at.rootUrl}/${at.path}`) };
  const entries = versions.map((version) => historyEntry(at.rootUrl, subsetted(version, query)));
  return bundleText('history', members, entries);
}

function linksOf({ versions, hasMore }: HistoryPage, { used, walk }: HistoryQuery, url: string): Link[] {
  const linkTo = (relation: string, position?: readonly ['_before' | '_after', string]): Link => {
    const parameters = new URLSearchParams(used);
    if (position !== undefined) parameters.set(...position);
    return { relation, url: `${url}?${parameters.toString()}` };
  };
  const isOlder = walk.direction === 'older';
  const [first, last, from] = [versions[0], versions.at(-1), walk.from];
  const self = from === undefined ? undefined : ([isOlder ? '_before' : '_after', printPosition(from)] as const);
  const links = [linkTo('self', self)];
  if (from !== undefined) links.push(linkTo('first'));
  // Where a page was reached from, there is something.
  if (first !== undefined && (isOlder ? from !== undefined : hasMore)) {
    links.push(linkTo('previous', ['_after', printPosition(first)]));
  }
  if (last !== undefined && (isOlder ? hasMore : true)) links.push(linkTo('next', ['_before', printPosition(last)]));
  return links;
}

function subsetted(version: StoredVersion, { subset }: HistoryQuery): StoredVersion {
  if (subset === undefined || version.text === undefined) return version;
  return { ...version, text: subsetOf(version.text, subset) };
}
