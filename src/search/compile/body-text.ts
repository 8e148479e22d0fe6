import { type WordsClause } from '../query/search-query';
import { type Binder } from '../../store/binder';

/** Placeholder for an escaped backslash while the other escapes are undone; JSON never holds this character raw. */
const MARK = 'chr(1)';

/**
 * Escapes of RFC 8259, section 7, with the SQL of their characters. `\uXXXX` is missing: `jsonb` decodes it. Escapes of
 * white space become a space, since all white space ends a word.
 */
const ESCAPES: readonly (readonly [escape: string, character: string])[] = [
  ['\\\\', MARK],
  ['\\"', `'"'`],
  ['\\/', `'/'`],
  ...['n', 'r', 't', 'b', 'f'].map((letter) => [`\\${letter}`, `' '`] as const),
];

/**
 * SQL that tests the words of a clause on the readable text of a body: names and values with escapes undone. No index
 * covers it; each candidate body is tested.
 */
export function wordsTest({ alternatives }: WordsClause, body: string, bind: Binder): string {
  const tests = alternatives.map(
    (words) => `(${words.map((word) => `t.body ilike ${bind.value(likePattern(word))}`).join(' and ')})`,
  );
  const exactly = `(select ${tests.join(' or ')} from (select ${readableText(body)} as body offset 0) t)`;
  return `(${mayHoldWords(alternatives, body, bind)} and ${exactly})`;
}

/**
 * SQL that tests the words on the stored text, with its escapes. It runs first, because undoing escapes is expensive. A
 * word of ASCII without quotes and backslashes is the same in the stored text, unless the body escapes its characters
 * with `\u` or `\/`.
 */
function mayHoldWords(alternatives: WordsClause['alternatives'], body: string, bind: Binder): string {
  const plain = alternatives.map((words) => words.filter((word) => /^[!#-[\]-~]+$/.test(word)));
  if (plain.some((words) => words.length === 0)) return 'true';
  const tests = plain.map((words) =>
    words.map((word) => `${body} ilike ${bind.value(likePattern(word))}`).join(' and '),
  );
  return `(${tests.join(' or ')} or strpos(${body}, E'\\\\u') > 0 or strpos(${body}, E'\\\\/') > 0)`;
}

/**
 * SQL of the body with its escapes undone. Most bodies hold no escape, and very few hold `\u`, so the SQL looks for
 * both before it replaces anything.
 */
function readableText(body: string): string {
  const plain = `case when strpos(${body}, E'\\\\u') > 0 then ${body}::jsonb::text else ${body} end`;
  const unescaped = ESCAPES.reduce((sql, [escape, text]) => `replace(${sql}, '${escape}', ${text})`, plain);
  const withoutControls = `regexp_replace(${unescaped}, '\\\\u00[01][0-9a-f]', ' ', 'g')`;
  return `case when strpos(${body}, E'\\\\') = 0 then ${body} else replace(${withoutControls}, ${MARK}, '\\') end`;
}

export const likePattern = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;

/**
 * SQL that is false for most bodies without the text. Bodies with a backslash pass, since an escape may hide the text.
 */
export const mayHold = (body: string, text: string, bind: Binder): string =>
  `(${body} ilike ${bind.value(likePattern(text))} or strpos(${body}, E'\\\\') > 0)`;
