import { ServiceError } from '../../platform/errors/service-error';
import { type FhirAnswer } from '../../fhir/fhir-answer';
import { type Steps } from '../../platform/time/steps';
import { type Subset, subsetOf } from '../../fhir/subset';
import { MAX_INCLUDED } from '../search/include/included-resources';
import { type SearchPage } from '../search/resource-search';
import { type OutcomeIssue } from '../search/live/incomplete-indexes';
import { type ResourceText } from '../stored-resource';
import { type SearchExtension } from './location-distance';
import { bundleText, searchEntry } from './resource-answer';
import { linksOf, type SearchPlace } from './search-links';

/** What the answer of a search says beside its resources, and how these are shown. */
export interface SearchPresentation extends SearchPlace {
  /** The part of each resource that was asked for. */
  readonly subset: Subset | 'count' | undefined;
  /** Bare resources instead of a Bundle. */
  readonly isArray: boolean;
  /** What the `search` of each match says beside its mode. */
  readonly extension?: SearchExtension | undefined;
}

/**
 * The answer to a search: a searchset Bundle (http://hl7.org/fhir/R4/bundle.html#searchset), or an array. Each resource is a
 * step, since it is parsed where only a part of it is shown.
 */
export function* searchAnswer(
  page: SearchPage,
  presentation: SearchPresentation,
  warnings: readonly OutcomeIssue[] = [],
): Steps<FhirAnswer> {
  const issues = [
    ...warnings,
    ...(page.isComplete ? [] : [TOO_MANY_INCLUDED]),
    ...(page.hiddenTypes.length === 0 ? [] : [leftOut(page.hiddenTypes)]),
  ];
  return yield* presentation.isArray ? arrayOf(page, presentation, issues) : bundleOf(page, presentation, issues);
}

export const noPlaceForTotals = (): ServiceError =>
  new ServiceError(
    'invalid',
    '_result=array has no place for a total or a plan: leave _total and _explain out, or ask for a Bundle.',
  );

function* bundleOf(
  page: SearchPage,
  presentation: SearchPresentation,
  issues: readonly OutcomeIssue[],
): Steps<FhirAnswer> {
  const { rootUrl, subset, extension } = presentation;
  const entries: string[] = [];
  for (const resource of page.resources) {
    entries.push(searchEntry(rootUrl, subsetted(resource, subset), 'match', extension?.(resource.text)));
    yield;
  }
  for (const resource of page.included) {
    entries.push(searchEntry(rootUrl, subsetted(resource, subset), 'include'));
    yield;
  }
  if (issues.length > 0) entries.push(outcomeEntry(issues));
  const { total, explanation } = page;
  const link = linksOf(page, presentation);
  return {
    status: 200,
    text: bundleText('searchset', { ...(total === undefined ? {} : { total }), link, ...explanation }, entries),
  };
}

/**
 * The resources alone; where the pages beside this one are says the header `Link` (RFC 8288, section 3), and what a Bundle
 * would warn of the header `Warning` (RFC 7234, section 5.5).
 */
function* arrayOf(
  page: SearchPage,
  presentation: SearchPresentation,
  issues: readonly OutcomeIssue[],
): Steps<FhirAnswer> {
  const texts: string[] = [];
  for (const resource of [...page.resources, ...page.included]) {
    texts.push(subsetted(resource, presentation.subset).text);
    yield;
  }
  const links = linksOf(page, presentation)
    .filter(({ relation }) => relation !== 'self')
    .map(({ relation, url }) => `<${url}>; rel="${relation}"`);
  const warnings = issues.map(({ diagnostics }) => `199 - ${JSON.stringify(diagnostics)}`);
  return {
    status: 200,
    text: `[${texts.join(',')}]`,
    headers: { Link: links.join(', '), ...(warnings.length === 0 ? {} : { Warning: warnings.join(', ') }) },
  };
}

function subsetted({ type, id, text }: ResourceText, subset: SearchPresentation['subset']): ResourceText {
  return { type, id, text: subset === undefined || subset === 'count' ? text : subsetOf(text, subset) };
}

/** http://hl7.org/fhir/R4/search.html#outcome */
const outcomeEntry = (issue: readonly OutcomeIssue[]): string =>
  JSON.stringify({ resource: { resourceType: 'OperationOutcome', issue }, search: { mode: 'outcome' } });

const TOO_MANY_INCLUDED: OutcomeIssue = {
  severity: 'warning',
  code: 'too-costly',
  diagnostics: `Not all resources that _include and _revinclude ask for are in this page: it holds ${MAX_INCLUDED} of them at most. Ask for a smaller _count.`,
};

/** Said whether any are stored or not, so that it tells nothing. */
const leftOut = (types: readonly string[]): OutcomeIssue => ({
  severity: 'warning',
  code: 'suppressed',
  diagnostics: `_include and _revinclude leave out types that you may not search: ${types.join(', ')}.`,
});
