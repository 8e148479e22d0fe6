/** HTML that needs no escaping. */
export class Html {
  constructor(readonly text: string) {}
}

type Part = string | number | Html | readonly Html[] | undefined;

/** Makes HTML of a template. Every value is escaped, except markup that this function made. */
export function markup(template: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(template.reduce((text, literal, index) => `${text}${printed(parts[index - 1])}${literal}`));
}

export const NOTHING = new Html('');

function printed(part: Part): string {
  if (part === undefined) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map(({ text }) => text).join('');
  return escaped(String(part));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Control characters have no place in HTML (https://html.spec.whatwg.org/#preprocessing-the-input-stream); a replacement shows where they were. */
const escaped = (text: string): string =>
  text.replace(/[&<>"']|[^\P{Cc}\t\n]/gu, (character) => ENTITIES[character] ?? '\u{FFFD}');

/** Characters that the eye does not see as they are: spaces at an end or in a row, what is invisible, what turns the direction. */
const UNSEEN = /^\s|\s$| {2}|[^\S \n]|[^\P{C}\n]/u;

/** The exact spelling of a text that does not show it, with escapes as in JSON; undefined where it shows. */
export function spelledOut(text: string): string | undefined {
  if (!UNSEEN.test(text)) return undefined;
  return JSON.stringify(text).replace(/[^\P{C}\n]|[^\S \n]/gu, (character) =>
    Array.from({ length: character.length }, (_, at) => codeUnit(character.charCodeAt(at))).join(''),
  );
}

const codeUnit = (code: number): string => `\\u${code.toString(16).padStart(4, '0')}`;
