import { type Subset, subsetOf } from '../../fhir/subset';
import { MAX_INCLUDED } from '../search/included-resources';
import { type SearchPage } from '../search/resource-search';
import { type OutcomeIssue } from '../search/live/incomplete-indexes';
import { printPosition } from '../search/search-position';
import { type PagePosition } from '../search/search-query';
import { type ResourceText } from '../stored-resource';
import { bundleText, searchEntry } from './resource-answer';

/** What the links of a search repeat, and how its resources are shown. */
export interface SearchLinks {
  /** The part of each resource that was asked for. */
  readonly subset: Subset | 'count' | undefined;
  readonly rootUrl: string;
  /** Below the root: `Patient`. */
  readonly path: string;
  /** The parameters that were used, with the count that is in force. */
  readonly used: URLSearchParams;
  readonly position: PagePosition | undefined;
}

/** The searchset Bundle of a page (http://hl7.org/fhir/R4/bundle.html#searchset). */
export function searchAnswer(page: SearchPage, links: SearchLinks, warnings: readonly OutcomeIssue[] = []): string {
  const issues = page.isComplete ? warnings : [...warnings, TOO_MANY_INCLUDED];
  const first = `${links.rootUrl}/${links.path}?${links.used.toString()}`;
  const link = [
    linkTo(first, 'self', links.position),
    linkTo(first, 'first', undefined),
    ...(page.previous === undefined ? [] : [linkTo(first, 'previous', page.previous)]),
    ...(page.next === undefined ? [] : [linkTo(first, 'next', page.next)]),
  ];
  const { rootUrl, subset } = links;
  const entries = [
    ...page.resources.map((resource) => searchEntry(rootUrl, subsetted(resource, subset), 'match')),
    ...page.included.map((resource) => searchEntry(rootUrl, subsetted(resource, subset), 'include')),
    ...(issues.length === 0 ? [] : [outcomeEntry(issues)]),
  ];
  const { total, explanation } = page;
  return bundleText('searchset', { ...(total === undefined ? {} : { total }), link, ...explanation }, entries);
}

function subsetted({ type, id, text }: ResourceText, subset: SearchLinks['subset']): ResourceText {
  return { type, id, text: subset === undefined || subset === 'count' ? text : subsetOf(text, subset) };
}

/** The parameters that were used never name a position, and a printed one needs no escapes. */
const linkTo = (
  first: string,
  relation: string,
  position: PagePosition | undefined,
): { readonly relation: string; readonly url: string } => ({
  relation,
  url: position === undefined ? first : `${first}&_${position.side}=${printPosition(position)}`,
});

/** http://hl7.org/fhir/R4/search.html#outcome */
const outcomeEntry = (issue: readonly OutcomeIssue[]): string =>
  JSON.stringify({ resource: { resourceType: 'OperationOutcome', issue }, search: { mode: 'outcome' } });

const TOO_MANY_INCLUDED: OutcomeIssue = {
  severity: 'warning',
  code: 'too-costly',
  diagnostics: `Not all resources that _include and _revinclude ask for are in this page: it holds ${MAX_INCLUDED} of them at most. Ask for a smaller _count.`,
};
