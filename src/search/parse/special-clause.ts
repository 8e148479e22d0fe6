import { type SearchClause } from '../query/search-query';
import { hintOf, pathText } from './json-path';
import { noteIncomplete, scopeElsewhere, type SearchScope } from './search-scope';
import { dateAlternativesOf } from './date-clause';
import { anyOf } from './token-clause';
import { alternativesOf, assertFew, invalid, unescaped, unsupportedModifier } from './values';

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
  const { parameters, hashes, now = Date.now() } = scope;
  const isMoment = MOMENT_CODES.has(code);
  const name = modifier === undefined ? code : `${code}:${modifier}`;
  const isBetween = isMoment && modifier === 'btw';
  if (modifier !== undefined && !isBetween) throw unsupportedModifier(name, isMoment ? ['btw'] : []);
  if (isMoment) {
    const boxes = dateAlternativesOf(name, isBetween ? 'btw' : undefined, value, now);
    return { kind: code === '_createdAt' ? 'created' : 'updated', boxes };
  }
  const values = alternativesOf(code, value);
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
      const items = parameters.find('List', 'item');
      const parameterId = items?.storedAs[0];
      if (items === undefined || parameterId === undefined) throw invalid(code, 'needs lists with items');
      noteIncomplete(items, scopeElsewhere(scope, 'List'));
      return anyOf(
        values.map((value) => {
          const listId = listIdOf(code, unescaped(value));
          return { kind: 'list', listId, listHash: hashes.ofTarget(`List/${listId}`), parameterId };
        }),
      );
    }
  }
}

function listIdOf(code: string, text: string): string {
  const id = text.replace(/^List\//, '');
  if (!/^[A-Za-z0-9.-]{1,64}$/.test(id)) throw invalid(code, 'takes the id of a List');
  return id;
}

/** The clause of a text whose words must all occur, in any case. */
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
