import { targetHashOf } from '../extract/hash';
import { type SearchClause } from '../search-query';
import { pathText } from './json-path';
import { type SearchScope } from './search-scope';
import { instantRangesOf } from './date-clause';
import { anyOf, hintOf } from './token-clause';
import { alternativesOf, invalid, unescaped } from './values';

/** Parameters of all types that are no SearchParameter with an expression (http://hl7.org/fhir/R4/search.html#all). */
export const SPECIAL_CODES: ReadonlySet<string> = new Set(['_id', '_lastUpdated', '_text', '_content', '_list']);

/** The most words of `_text` and `_content`: each is looked for in every body. */
const MAX_WORDS = 16;

export function specialClauseOf(
  code: string,
  value: string,
  { parameters, now = Date.now() }: SearchScope,
): SearchClause {
  const values = alternativesOf(code, value);
  switch (code) {
    case '_id':
      return { kind: 'id', ids: values.map(unescaped) };
    case '_lastUpdated':
      return { kind: 'updated', ranges: values.flatMap((text) => instantRangesOf(code, text, now)) };
    case '_text':
      return anyOf(values.map((text) => wordsClause(code, unescaped(text), '$.text.div')));
    case '_content':
      return anyOf(values.map((text) => wordsClause(code, unescaped(text), '$.**')));
    default: {
      const parameterId = parameters.find('List', 'item')?.storedAs[0];
      if (parameterId === undefined) throw invalid(code, 'needs lists with items');
      return anyOf(
        values.map((id) => ({
          kind: 'list',
          listHash: targetHashOf(`List/${listIdOf(code, unescaped(id))}`),
          parameterId,
        })),
      );
    }
  }
}

function listIdOf(code: string, text: string): string {
  const id = text.replace(/^List\//, '');
  if (!/^[A-Za-z0-9.-]{1,64}$/.test(id)) throw invalid(code, 'takes the id of a List');
  return id;
}

/** Every word must occur, whatever its case. */
function wordsClause(code: string, text: string, path: string): SearchClause {
  const words = text.split(/\s+/).filter((word) => word !== '');
  if (words.length === 0 || words.length > MAX_WORDS) throw invalid(code, `takes 1 to ${MAX_WORDS} words`);
  const clauses = words.map((word): SearchClause => ({
    kind: 'body',
    paths: [`${path} ? (@.type() == "string" && @ like_regex ${pathText(word)} flag "iq")`],
    ...hintOf(word),
  }));
  return { kind: 'all', clauses };
}
