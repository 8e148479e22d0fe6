/** A text that is already HTML, so it is not escaped again. */
export class Html {
  constructor(readonly text: string) {}
}

type Part = string | number | Html | readonly Html[] | undefined;

/** Builds HTML from a template. Every value is escaped, except values that this function itself has made. */
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

/**
 * Escapes a text for HTML. HTML allows no control characters
 * (https://html.spec.whatwg.org/#preprocessing-the-input-stream), so U+FFFD replaces each.
 */
const escaped = (text: string): string =>
  text.replace(/[&<>"']|[^\P{Cc}\t\n]/gu, (character) => ENTITIES[character] ?? '\u{FFFD}');

/** Finds what a reader cannot see: outer or repeated spaces, invisible characters, and direction controls. */
const UNSEEN = /^\s|\s$| {2}|[^\S \n]|[^\P{C}\n]/u;

/** Returns the text with JSON escapes if it contains characters that a reader cannot see; else undefined. */
export function spelledOut(text: string): string | undefined {
  if (!UNSEEN.test(text)) return undefined;
  return JSON.stringify(text).replace(/[^\P{C}\n]|[^\S \n]/gu, (character) =>
    Array.from({ length: character.length }, (_, at) => codeUnit(character.charCodeAt(at))).join(''),
  );
}

const codeUnit = (code: number): string => `\\u${code.toString(16).padStart(4, '0')}`;
