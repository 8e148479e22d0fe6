import { type SearchClause } from '../query/search-query';
import { hintOf, pathText } from './json-path';
import { noteIncomplete, scopeElsewhere, type SearchScope } from './search-scope';
import { dateAlternativesOf } from './date-clause';
import { anyOf } from './token-clause';
import { alternativesOf, assertFew, assertNoModifier, invalid, unescaped } from './values';

/**
 * Parameters that all types have, but that no SearchParameter with an expression defines
 * (http://hl7.org/fhir/R4/search.html#all).
 */
export const SPECIAL_CODES: ReadonlySet<string> = new Set([
  ...['_id', '_lastUpdated', '_createdAt', '_text', '_content', '_ilike', '_list'],
]);

/** The special parameters whose value is one moment. */
export const MOMENT_CODES: ReadonlySet<string> = new Set(['_lastUpdated', '_createdAt']);

/** Maximum number of words in `_text`, `_content` and `_ilike`, since each word is searched for in every body. */
const MAX_WORDS = 16;

export function specialClauseOf(
  code: string,
  modifier: string | undefined,
  value: string,
  scope: SearchScope,
): SearchClause {
  const isMoment = MOMENT_CODES.has(code);
  const name = modifier === undefined ? code : `${code}:${modifier}`;
  if (!isMoment) assertNoModifier(name, modifier, []);
  const values = alternativesOf(name, value);
  if (isMoment) {
    const boxes = dateAlternativesOf({ name, modifier, values }, ['btw'], scope);
    return { kind: code === '_createdAt' ? 'created' : 'updated', boxes };
  }
  if (code !== '_id') assertFew(code, values);
  switch (code) {
    case '_id':
      return { kind: 'id', ids: values.map(unescaped) };
    case '_text':
      return anyOf(values.map((text) => wordsClause(code, unescaped(text), '$.text.div')));
    case '_content':
      return anyOf(values.map((text) => wordsClause(code, unescaped(text), '$.**')));
    case '_ilike':
      return { kind: 'words', alternatives: values.map((text) => wordsOf(code, unescaped(text))) };
    default: {
      const items = scope.parameters.find('List', 'item');
      if (items === undefined) throw invalid(code, 'needs lists with items');
      noteIncomplete(items, scopeElsewhere(scope, 'List'));
      const clause: SearchClause = { kind: 'id', ids: values.map((text) => listIdOf(code, unescaped(text))) };
      return { kind: 'has', type: 'List', parameterIds: items.storedAs, clause, isByPatient: false };
    }
  }
}

function listIdOf(code: string, text: string): string {
  const id = text.replace(/^List\//, '');
  if (!/^[A-Za-z0-9.-]{1,64}$/.test(id)) throw invalid(code, 'takes the id of a List');
  return id;
}

function wordsClause(code: string, text: string, path: string): SearchClause {
  const clauses = wordsOf(code, text).map((word): SearchClause => ({
    kind: 'body',
    paths: [`${path} ? (@.type() == "string" && @ like_regex ${pathText(word)} flag "iq")`],
    ...hintOf(word),
  }));
  return { kind: 'all', clauses };
}

function wordsOf(code: string, text: string): readonly string[] {
  const words = text.split(/\s+/).filter((word) => word !== '');
  if (words.length === 0 || words.length > MAX_WORDS) throw invalid(code, `takes 1 to ${MAX_WORDS} words`);
  return words;
}
