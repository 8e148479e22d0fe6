import { type WordsClause } from '../query/search-query';
import { type Binder } from '../../platform/database/binder';

/** Stands for an escaped backslash while the other escapes are undone; JSON never holds it as it is. */
const MARK = 'chr(1)';

/** Escapes of RFC 8259, section 7, but for `\uXXXX`, which `jsonb` undoes. White space of any kind ends a word. */
const ESCAPES: readonly (readonly [escape: string, character: string])[] = [
  ['\\\\', MARK],
  ['\\"', `'"'`],
  ['\\/', `'/'`],
  ...['n', 'r', 't', 'b', 'f'].map((letter) => [`\\${letter}`, `' '`] as const),
];

/**
 * SQL of the words of a clause on the text of a body as a reader sees it: names and values, escapes undone. It is a
 * condition on each body that is asked, and no index knows it.
 */
export function wordsTest({ alternatives }: WordsClause, body: string, bind: Binder): string {
  const tests = alternatives.map(
    (words) => `(${words.map((word) => `t.body ilike ${bind.value(likePattern(word))}`).join(' and ')})`,
  );
  const exactly = `(select ${tests.join(' or ')} from (select ${readableText(body)} as body offset 0) t)`;
  return `(${mayHoldWords(alternatives, body, bind)} and ${exactly})`;
}

/**
 * Undoing escapes costs more than a look at the text as it is stored, where ASCII without quotes reads the same: unless
 * the body has escapes that stand for such characters.
 */
function mayHoldWords(alternatives: WordsClause['alternatives'], body: string, bind: Binder): string {
  const plain = alternatives.map((words) => words.filter((word) => /^[!#-[\]-~]+$/.test(word)));
  if (plain.some((words) => words.length === 0)) return 'true';
  const tests = plain.map((words) =>
    words.map((word) => `${body} ilike ${bind.value(likePattern(word))}`).join(' and '),
  );
  return `(${tests.join(' or ')} or strpos(${body}, E'\\\\u') > 0 or strpos(${body}, E'\\\\/') > 0)`;
}

/** Most bodies hold no escapes at all, and next to none hold `\u`. */
function readableText(body: string): string {
  const plain = `case when strpos(${body}, E'\\\\u') > 0 then ${body}::jsonb::text else ${body} end`;
  const unescaped = ESCAPES.reduce((sql, [escape, text]) => `replace(${sql}, '${escape}', ${text})`, plain);
  const withoutControls = `regexp_replace(${unescaped}, '\\\\u00[01][0-9a-f]', ' ', 'g')`;
  return `case when strpos(${body}, E'\\\\') = 0 then ${body} else replace(${withoutControls}, ${MARK}, '\\') end`;
}

/** A pattern of LIKE that holds for texts with this one in them. */
export const likePattern = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;

/** SQL that is false for most bodies without the text; a backslash begins an escape, behind which it may hide. */
export const mayHold = (body: string, text: string, bind: Binder): string =>
  `(${body} ilike ${bind.value(likePattern(text))} or strpos(${body}, E'\\\\') > 0)`;
