import { type WordsClause } from '../query/search-query';
import { type Binder } from '../../store/binder';

/** Placeholder for an escaped backslash while the other escapes are undone; JSON never holds this character raw. */
const MARK = 'chr(1)';

/** Escapes of RFC 8259, section 7, except `\uXXXX`, which `jsonb` decodes. White space of any kind ends a word. */
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
 * Cheap pre-test on the stored text, since undoing escapes is expensive. Words of ASCII without quotes read the same
 * there, unless the body escapes such characters with `\u` or `\/`.
 */
function mayHoldWords(alternatives: WordsClause['alternatives'], body: string, bind: Binder): string {
  const plain = alternatives.map((words) => words.filter((word) => /^[!#-[\]-~]+$/.test(word)));
  if (plain.some((words) => words.length === 0)) return 'true';
  const tests = plain.map((words) =>
    words.map((word) => `${body} ilike ${bind.value(likePattern(word))}`).join(' and '),
  );
  return `(${tests.join(' or ')} or strpos(${body}, E'\\\\u') > 0 or strpos(${body}, E'\\\\/') > 0)`;
}

/** Most bodies hold no escapes, and very few hold `\u`, so both are tested first. */
function readableText(body: string): string {
  const plain = `case when strpos(${body}, E'\\\\u') > 0 then ${body}::jsonb::text else ${body} end`;
  const unescaped = ESCAPES.reduce((sql, [escape, text]) => `replace(${sql}, '${escape}', ${text})`, plain);
  const withoutControls = `regexp_replace(${unescaped}, '\\\\u00[01][0-9a-f]', ' ', 'g')`;
  return `case when strpos(${body}, E'\\\\') = 0 then ${body} else replace(${withoutControls}, ${MARK}, '\\') end`;
}

/** LIKE pattern for texts that contain `text`. */
export const likePattern = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;

/**
 * SQL that is false for most bodies without the text. Bodies with a backslash pass, since an escape may hide the text.
 */
export const mayHold = (body: string, text: string, bind: Binder): string =>
  `(${body} ilike ${bind.value(likePattern(text))} or strpos(${body}, E'\\\\') > 0)`;
