import { isTooDeep } from '../../search/query/result-parameters';
import { type SearchPage } from '../../search/run/resource-search';
import { printPosition } from '../../search/query/search-position';
import { type PagePosition } from '../../search/query/search-query';

export interface SearchPlace {
  readonly rootUrl: string;
  /** Path below the root, such as `Patient`; empty for the root itself. */
  readonly path: string;
  /** The parameters that were applied, with the count that was used. */
  readonly used: URLSearchParams;
  readonly count: number;
  readonly position: PagePosition | undefined;
  /** The page number; undefined if the page was not requested by number. */
  readonly page: number | undefined;
}

export interface PageLink {
  readonly relation: string;
  readonly url: string;
}

/**
 * The links of a page (http://hl7.org/fhir/R4/http.html#paging). They hold its first or last row, so that they stay
 * correct if resources are written in the meantime. A page that was requested by number has links with numbers.
 */
export function searchLinks(page: SearchPage, place: SearchPlace): readonly PageLink[] {
  const { rootUrl, path, used } = place;
  const link = linkFrom(`${rootUrl}${path === '' ? '' : `/${path}`}?`, used.toString());
  if (place.page !== undefined) return numberedLinksOf(page, place, place.page, link);
  return [
    link('self', place.position),
    link('first', undefined),
    ...(page.previous === undefined ? [] : [link('previous', page.previous)]),
    ...(page.next === undefined ? [] : [link('next', page.next)]),
  ];
}

/**
 * The links of a page that was requested by number. `next` continues from the last row, without a number, after the
 * deepest numbered page and after a page that was shortened because it is long.
 */
function numberedLinksOf(
  { total, hasMore, isShort, next }: SearchPage,
  { count }: SearchPlace,
  page: number,
  link: ReturnType<typeof linkFrom>,
): readonly PageLink[] {
  const last = total === undefined || count === 0 ? undefined : Math.max(1, Math.ceil(total / count));
  const isByRow = isShort || isTooDeep(page + 1, count);
  return [
    link('self', page),
    link('first', 1),
    ...(page > 1 ? [link('previous', Math.min(page - 1, last ?? page))] : []),
    ...(hasMore ? [link('next', isByRow ? next : page + 1)] : []),
    ...(last === undefined || isTooDeep(last, count) ? [] : [link('last', last)]),
  ];
}

/** Makes a link from the applied parameters (`used`) and a position. The text of a position needs no escapes. */
const linkFrom =
  (base: string, used: string) =>
  (relation: string, at: PagePosition | number | undefined): PageLink => {
    const place = at === undefined ? '' : typeof at === 'number' ? `_page=${at}` : `_${at.side}=${printPosition(at)}`;
    return { relation, url: `${base}${used}${used === '' || place === '' ? '' : '&'}${place}` };
  };
