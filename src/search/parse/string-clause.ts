import { foldText } from '../../search-index/extract/fold';
import { type SearchParameter } from '../../search-index/extract/search-parameter';
import { type SearchClause, type StringClause } from '../query/search-query';
import { bodyClauseOf, pathText } from './json-path';
import { type SentParameter } from './search-scope';
import { assertFew, invalid, unescaped, unsupportedModifier } from './values';

/** Maximum number of characters of a text that the index holds. */
const LONGEST_TEXT = 256;

/**
 * Reads `name`, `name:starts`, `name:ends`, `name:contains` and `name:exact`
 * (http://hl7.org/fhir/R4/search.html#string).
 */
export function stringClauseOf({ parameter, modifier, name, values }: SentParameter): SearchClause {
  const texts = values.map(unescaped);
  const folded = texts.map((text) => foldedOf(name, text));
  switch (modifier) {
    case undefined:
    case 'starts':
      return matchClauseOf(parameter, 'prefix', folded);
    case 'contains':
      assertFew(name, texts);
      return matchClauseOf(parameter, 'contains', folded);
    case 'ends':
      assertFew(name, texts);
      return matchClauseOf(parameter, 'suffix', folded);
    case 'exact':
      // The index holds folded texts, so it gives candidates. The stored text decides.
      return { kind: 'all', clauses: [matchClauseOf(parameter, 'prefix', folded), exactly(parameter, name, texts)] };
    default:
      throw unsupportedModifier(name, ['exact', 'contains', 'starts', 'ends', 'missing']);
  }
}

function matchClauseOf(
  { storedAs }: SearchParameter,
  match: StringClause['match'],
  texts: readonly string[],
): StringClause {
  return { kind: 'string', parameterIds: storedAs, match, texts: texts.flatMap(withBothSigmas) };
}

/**
 * Folding makes the Σ at the end of a word ς, and any other σ. A searched text can end inside a word, so it matches
 * both: `ΣΙΣ` is the beginning of `Σισμανίδης`.
 */
const withBothSigmas = (text: string): readonly string[] =>
  /[σς]$/.test(text) ? ['σ', 'ς'].map((sigma) => text.slice(0, -1) + sigma) : [text];

function exactly(parameter: SearchParameter, name: string, texts: readonly string[]): SearchClause {
  const equal = texts.map((text) => `@ == ${pathText(text)}`).join(' || ');
  // `use` and `type` of a name or address are codes, not parts of its text.
  const parts = `.keyvalue() ? (@.key != "use" && @.key != "type").value`;
  return bodyClauseOf(parameter, name, ({ path, type }) => [
    `${path}${type === 'HumanName' || type === 'Address' ? parts : ''} ? (${equal})`,
  ]);
}

function foldedOf(name: string, text: string): string {
  const folded = foldText(text);
  if (folded === '') throw invalid(name, 'has no text to look for');
  if (folded.length > LONGEST_TEXT) throw invalid(name, `takes texts of up to ${LONGEST_TEXT} characters`);
  return folded;
}
