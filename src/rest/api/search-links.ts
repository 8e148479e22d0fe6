import { isTooDeep } from '../../search/query/result-parameters';
import { type SearchPage } from '../../search/run/resource-search';
import { printPosition } from '../../search/query/search-position';
import { type PagePosition } from '../../search/query/search-query';

/** The repeated parts of a search's links, and the position of the page. */
export interface SearchPlace {
  readonly rootUrl: string;
  /** Path below the root: `Patient`; empty for the root itself. */
  readonly path: string;
  /** The parameters used, with the effective count. */
  readonly used: URLSearchParams;
  readonly count: number;
  readonly position: PagePosition | undefined;
  /** The page number, if the page was requested by number. */
  readonly page: number | undefined;
}

export interface Link {
  readonly relation: string;
  readonly url: string;
}

/**
 * The links of a page (http://hl7.org/fhir/R4/http.html#paging). They hold the rows at its edges, so that they stay
 * correct during writes. A page reached by number has numbered links.
 */
export function searchLinks(page: SearchPage, place: SearchPlace): readonly Link[] {
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
 * Beyond the deepest numbered page, or after a page shortened because it is long, `next` continues from the last row.
 */
function numberedLinksOf(
  { total, hasMore, isShort, next }: SearchPage,
  { count }: SearchPlace,
  page: number,
  link: ReturnType<typeof linkFrom>,
): readonly Link[] {
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

/** The parameters used hold no position; the position needs no escapes. */
const linkFrom =
  (base: string, used: string) =>
  (relation: string, at: PagePosition | number | undefined): Link => {
    const place = at === undefined ? '' : typeof at === 'number' ? `_page=${at}` : `_${at.side}=${printPosition(at)}`;
    return { relation, url: `${base}${used}${used === '' || place === '' ? '' : '&'}${place}` };
  };
