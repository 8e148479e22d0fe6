export interface Span {
  readonly text: string;
  readonly kind: 'plain' | 'key' | 'string' | 'number' | 'word';
}

/** The maximum length of a line. Longer lines are cut, since laying out a line of 5 MB would block the page. */
export const LINE_CHARACTERS = 2000;

/** The lines of a value as indented JSON. Text that is no JSON stays as it is. */
export function linesOf(value: unknown): string[] {
  return (typeof value === 'string' ? value : (JSON.stringify(value, undefined, 2) ?? '')).split('\n');
}

const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|\b(true|false|null)\b/g;

/** A line of indented JSON in colors. */
export function spansOf(line: string): Span[] {
  const cut = line.length > LINE_CHARACTERS;
  const text = cut ? line.slice(0, LINE_CHARACTERS) : line;
  const spans: Span[] = [];
  let at = 0;
  for (const match of text.matchAll(TOKEN)) {
    const [all, string, colon, number] = match;
    if (match.index > at) spans.push({ text: text.slice(at, match.index), kind: 'plain' });
    if (string !== undefined) {
      spans.push({ text: string, kind: colon === undefined ? 'string' : 'key' });
      if (colon !== undefined) spans.push({ text: colon, kind: 'plain' });
    } else spans.push({ text: all, kind: number === undefined ? 'word' : 'number' });
    at = match.index + all.length;
  }
  if (at < text.length) spans.push({ text: text.slice(at), kind: 'plain' });
  if (cut) spans.push({ text: `… ${line.length - LINE_CHARACTERS} more characters`, kind: 'word' });
  return spans;
}
