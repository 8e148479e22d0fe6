import { endOfString, endOfValue } from './json-skip';

const INDENT = '  ';

/**
 * Spreads compact JSON text over lines for people to read, as `JSON.stringify(…, null, 2)` does, but digits and escapes
 * stay as they are. The text must be valid and compact, as `readJson` makes it.
 */
export function indentedJson(text: string): string {
  const parts: string[] = [];
  let lineBreak = '\n';
  for (let at = 0; at < text.length;) {
    const character = text[at] ?? '';
    if (character === '{' || character === '[') {
      const isEmpty = text[at + 1] === '}' || text[at + 1] === ']';
      if (isEmpty) parts.push(text.slice(at, at + 2));
      else parts.push(character, (lineBreak += INDENT));
      at += isEmpty ? 2 : 1;
    } else if (character === '}' || character === ']') {
      lineBreak = lineBreak.slice(0, -INDENT.length);
      parts.push(lineBreak, character);
      at++;
    } else if (character === ',') {
      parts.push(',', lineBreak);
      at++;
    } else {
      const end = endOfKeyOrScalar(text, at);
      parts.push(text.slice(at, end));
      if (text[end] === ':') parts.push(': ');
      at = text[end] === ':' ? end + 1 : end;
    }
  }
  return parts.join('');
}

const endOfKeyOrScalar = (text: string, at: number): number =>
  text[at] === '"' ? endOfString(text, at) : endOfValue(text, at);
