import { endOfString, endOfValue } from './json-skip';

/** How many characters are printed before other requests may run. */
const AT_ONCE = 32 * 1024;

const PUNCTUATION = new Set('{}[],:');

/**
 * Converts compact JSON text token by token by `print`, and yields the result in texts of moderate length. The text may
 * be a part of a value, but must end between two tokens.
 */
export function* printedTokens(text: string, print: (token: string) => string): Generator<string, void, void> {
  let printed = '';
  for (let at = 0; at < text.length;) {
    const end = endOfToken(text, at);
    printed += print(text.slice(at, end));
    at = end;
    if (printed.length < AT_ONCE) continue;
    yield printed;
    printed = '';
  }
  yield printed;
}

function endOfToken(text: string, at: number): number {
  const first = text[at] ?? '';
  if (PUNCTUATION.has(first)) return at + 1;
  return first === '"' ? endOfString(text, at) : endOfValue(text, at);
}
