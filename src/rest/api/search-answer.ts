import { type FhirAnswer } from '../../fhir/edge/fhir-answer';
import { type Subset } from '../../fhir/subset/subset';
import { MAX_INCLUDED } from '../../search/include/included-resources';
import { type SearchPage } from '../../search/run/resource-search';
import { type OutcomeIssue } from '../../search-index/unfinished-index';
import { type ResourceText } from '../../model/stored-resource';
import { type SearchExtension } from './location-distance';
import { type LateTexts, type ListedVersion } from '../../store/late-texts';
import { joined, outcomeEntry, produceBundle, searchEntry } from '../../model/bundle-text';
import { searchLinks, type SearchPlace } from './search-links';

/** How an answer shows the matches of a search. */
export interface SearchPresentation extends SearchPlace {
  /** The part of each resource that the client requests; undefined for the whole resource. */
  readonly subset: Subset | 'count' | undefined;
  /** Whether the answer is an array of resources instead of a Bundle. */
  readonly isArray: boolean;
  /** Makes further members for the `search` of each match. */
  readonly extension?: SearchExtension | undefined;
}

/**
 * The answer to a search: a searchset (http://hl7.org/fhir/R4/bundle.html#searchset), or an array. Texts that were not
 * read with the page are read while the answer is sent.
 */
export function searchAnswer(
  page: SearchPage,
  presentation: SearchPresentation,
  texts: LateTexts,
  warnings: readonly OutcomeIssue[],
): FhirAnswer {
  const issues = [
    ...warnings,
    ...(page.isComplete ? [] : [TOO_MANY_INCLUDED]),
    ...(page.hiddenTypes.length === 0 ? [] : [leftOut(page.hiddenTypes)]),
  ];
  return presentation.isArray
    ? arrayOf(page, presentation, texts, issues)
    : bundleOf(page, presentation, texts, issues);
}

function bundleOf(
  page: SearchPage,
  presentation: SearchPresentation,
  texts: LateTexts,
  issues: readonly OutcomeIssue[],
): FhirAnswer {
  const { total, explanation } = page;
  const members = { ...(total === undefined ? {} : { total }), link: searchLinks(page, presentation), ...explanation };
  return { status: 200, produce: produceBundle('searchset', members, entriesOf(page, presentation, texts, issues)) };
}

async function* entriesOf(
  page: SearchPage,
  { rootUrl, subset, extension }: SearchPresentation,
  texts: LateTexts,
  issues: readonly OutcomeIssue[],
): AsyncGenerator<string[], void, void> {
  yield* texts.printed(page.resources, async (some) => {
    const extensions = some.map(({ text = '' }) => extension?.(text));
    const shown = await texts.partsOf(some, subset);
    return shown.map((one, index) => searchEntry(rootUrl, readText(one), 'match', extensions[index]));
  });
  yield* texts.printed(page.included, async (some) =>
    (await texts.partsOf(some, subset)).map((one) => searchEntry(rootUrl, readText(one), 'include')),
  );
  if (issues.length > 0) yield [outcomeEntry(issues)];
}

/**
 * An answer that is an array of resources. Its header `Link` (RFC 8288, section 3) holds the links to other pages. Its
 * header `Warning` (RFC 7234, section 5.5) holds the warnings that a Bundle would have.
 */
function arrayOf(
  page: SearchPage,
  presentation: SearchPresentation,
  texts: LateTexts,
  issues: readonly OutcomeIssue[],
): FhirAnswer {
  const links = searchLinks(page, presentation)
    .filter(({ relation }) => relation !== 'self')
    .map(({ relation, url }) => `<${url}>; rel="${relation}"`);
  const warnings = issues.map(({ diagnostics }) => `199 - ${JSON.stringify(diagnostics)}`);
  return {
    status: 200,
    produce: async (sink) => {
      let before = '[';
      const resources = texts.printed([...page.resources, ...page.included], async (some) =>
        (await texts.partsOf(some, presentation.subset)).map(({ text = '' }) => text),
      );
      for await (const some of resources) {
        if (some.length === 0) continue; // their rows were deleted meanwhile
        await sink.write(joined(before, some));
        before = ',';
      }
      await sink.write(before === '[' ? '[]' : ']');
    },
    headers: { Link: links.join(', '), ...(warnings.length === 0 ? {} : { Warning: warnings.join(', ') }) },
  };
}

const readText = ({ type, id, text = '' }: ListedVersion): ResourceText => ({ type, id, text });

const TOO_MANY_INCLUDED: OutcomeIssue = {
  severity: 'warning',
  code: 'too-costly',
  diagnostics: `Not all resources that _include and _revinclude ask for are in this page: it holds ${MAX_INCLUDED} of them at most. Ask for a smaller _count.`,
};

/**
 * The warning for types that the caller may not search. It does not depend on what is stored, so it reveals nothing.
 */
const leftOut = (types: readonly string[]): OutcomeIssue => ({
  severity: 'warning',
  code: 'suppressed',
  diagnostics: `_include and _revinclude leave out types that you may not search: ${types.join(', ')}.`,
});
