import { isTooDeep } from '../../search/query/result-parameters';
import { type SearchPage } from '../../search/run/resource-search';
import { printPosition } from '../../search/query/search-position';
import { type PagePosition } from '../../search/query/search-query';

/** What the links of a search repeat, and where the page is. */
export interface SearchPlace {
  readonly rootUrl: string;
  /** Below the root: `Patient`; empty for the root itself. */
  readonly path: string;
  /** The parameters that were used, with the count that is in force. */
  readonly used: URLSearchParams;
  readonly count: number;
  readonly position: PagePosition | undefined;
  /** The number of the page, when it was asked for by one. */
  readonly page: number | undefined;
}

export interface Link {
  readonly relation: string;
  readonly url: string;
}

/**
 * The links of a page (http://hl7.org/fhir/R4/http.html#paging). They go by the rows at its edges, so that they stay right
 * while others write; by number when it was reached by its number.
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

/** Where numbers end, or a page ended early since it is long, `next` goes on by the last row. */
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

/** The parameters that were used say nothing of a page; what does needs no escapes. */
const linkFrom =
  (base: string, used: string) =>
  (relation: string, at: PagePosition | number | undefined): Link => {
    const place = at === undefined ? '' : typeof at === 'number' ? `_page=${at}` : `_${at.side}=${printPosition(at)}`;
    return { relation, url: `${base}${used}${used === '' || place === '' ? '' : '&'}${place}` };
  };
