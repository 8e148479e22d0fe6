import { type Subset, subsetOf } from '../../fhir/subset';
import { MAX_INCLUDED } from '../search/include/included-resources';
import { type SearchPage } from '../search/resource-search';
import { type OutcomeIssue } from '../search/live/incomplete-indexes';
import { printPosition } from '../search/search-position';
import { type PagePosition } from '../search/search-query';
import { type ResourceText } from '../stored-resource';
import { type SearchExtension } from './location-distance';
import { bundleText, searchEntry } from './resource-answer';

/** What the links of a search repeat, and how its resources are shown. */
export interface SearchLinks {
  /** The part of each resource that was asked for. */
  readonly subset: Subset | 'count' | undefined;
  readonly rootUrl: string;
  /** Below the root: `Patient`; empty for the root itself. */
  readonly path: string;
  /** The parameters that were used, with the count that is in force. */
  readonly used: URLSearchParams;
  readonly position: PagePosition | undefined;
  /** What the `search` of each match says beside its mode. */
  readonly extension?: SearchExtension | undefined;
}

/** The searchset Bundle of a page (http://hl7.org/fhir/R4/bundle.html#searchset). */
export function searchAnswer(page: SearchPage, links: SearchLinks, warnings: readonly OutcomeIssue[] = []): string {
  const issues = page.isComplete ? warnings : [...warnings, TOO_MANY_INCLUDED];
  const link = [
    linkTo(links, 'self', links.position),
    linkTo(links, 'first', undefined),
    ...(page.previous === undefined ? [] : [linkTo(links, 'previous', page.previous)]),
    ...(page.next === undefined ? [] : [linkTo(links, 'next', page.next)]),
  ];
  const { rootUrl, subset, extension } = links;
  const entries = [
    ...page.resources.map((resource) =>
      searchEntry(rootUrl, subsetted(resource, subset), 'match', extension?.(resource.text)),
    ),
    ...page.included.map((resource) => searchEntry(rootUrl, subsetted(resource, subset), 'include')),
    ...(issues.length === 0 ? [] : [outcomeEntry(issues)]),
  ];
  const { total, explanation } = page;
  return bundleText('searchset', { ...(total === undefined ? {} : { total }), link, ...explanation }, entries);
}

function subsetted({ type, id, text }: ResourceText, subset: SearchLinks['subset']): ResourceText {
  return { type, id, text: subset === undefined || subset === 'count' ? text : subsetOf(text, subset) };
}

function linkTo(
  { rootUrl, path, used }: SearchLinks,
  relation: string,
  position: PagePosition | undefined,
): { readonly relation: string; readonly url: string } {
  const shown = new URLSearchParams(used);
  if (position !== undefined) shown.set(`_${position.side}`, printPosition(position));
  return { relation, url: `${rootUrl}${path === '' ? '' : `/${path}`}?${shown.toString()}` };
}

/** http://hl7.org/fhir/R4/search.html#outcome */
const outcomeEntry = (issue: readonly OutcomeIssue[]): string =>
  JSON.stringify({ resource: { resourceType: 'OperationOutcome', issue }, search: { mode: 'outcome' } });

const TOO_MANY_INCLUDED: OutcomeIssue = {
  severity: 'warning',
  code: 'too-costly',
  diagnostics: `Not all resources that _include and _revinclude ask for are in this page: it holds ${MAX_INCLUDED} of them at most. Ask for a smaller _count.`,
};
