import { endOfString, endOfValue } from './json-skip';

/** Characters printed before a pause for others. */
const AT_ONCE = 32 * 1024;

/**
 * Prints compact JSON text token by token, in texts of moderate length. The text may be a part of a value that ends
 * between two tokens.
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
  switch (text[at]) {
    case '"':
      return endOfString(text, at);
    case '{':
    case '}':
    case '[':
    case ']':
    case ',':
    case ':':
      return at + 1;
    default:
      return endOfValue(text, at);
  }
}
