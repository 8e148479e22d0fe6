const QUOTE = 0x22;
const COMMA = 0x2c;
const OPENING_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/** The index after the string that begins with the quote at `start`. The text must be valid JSON. */
export function endOfString(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1);
  while (quote > 0 && isEscaped(text, quote)) quote = text.indexOf('"', quote + 1);
  return quote < 0 ? text.length : quote + 1;
}

/** Whether the character at `at` is escaped: it is if an odd number of backslashes precedes it. */
function isEscaped(text: string, at: number): boolean {
  let before = at - 1;
  while (text.charCodeAt(before) === BACKSLASH) before--;
  return (at - before) % 2 === 0;
}

/** The index after the value that begins at `start`. The text must be valid, compact JSON. */
export function endOfValue(text: string, start: number): number {
  let depth = 0;
  let at = start;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
      continue;
    }
    if (code === OPENING_BRACE || code === OPENING_BRACKET) depth++;
    else if (code === CLOSING_BRACE || code === CLOSING_BRACKET) {
      if (depth === 0) return at;
      depth--;
    } else if (code === COMMA && depth === 0) return at;
    at++;
  }
  return text.length;
}

/** The value of a JSON string with its quotes and escapes. */
export function unquoted(token: string): string {
  return token.includes('\\') ? (JSON.parse(token) as string) : token.slice(1, -1);
}
