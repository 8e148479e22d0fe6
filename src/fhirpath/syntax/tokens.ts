import { ExpressionError, type Place } from './expression';

export interface Token {
  readonly kind: 'name' | 'string' | 'number' | 'variable' | 'time' | 'symbol' | 'end';
  /** Text of the token. For a name, string or variable, it is the value without quotes, escapes and `%`. */
  readonly text: string;
  /** Whether a name is in backticks, and so never an operator. */
  readonly isDelimited: boolean;
  readonly place: Place;
}

/** Pattern of the next token: blanks and comments, then one group for each of {@link KINDS}, in their order. */
const SYNTAX =
  /\s+|\/\/[^\n]*|\/\*[^]*?\*\/|([A-Za-z_]\w*)|`((?:[^`\\]|\\.)*)`|'((?:[^'\\]|\\.)*)'|(\d+(?:\.\d+)?)|%([A-Za-z_]\w*)|%[`']((?:[^`'\\]|\\.)*)[`']|@(T\d\d(?::\d\d(?::\d\d(?:\.\d+)?)?)?|\d{4}(?:-\d\d(?:-\d\d)?)?(?:T(?:\d\d(?::\d\d(?::\d\d(?:\.\d+)?)?)?(?:Z|[+-]\d\d:\d\d)?)?)?)|(\$(?:this|index|total)|!=|!~|<=|>=|[()[\]{}.,|=~<>+\-&*/])/y;
const KINDS = ['name', 'name', 'string', 'number', 'variable', 'variable', 'time', 'symbol'] as const;
const DELIMITED_NAME = 1;

/** HL7's longest invariant has about 250 tokens. Each costs time at every write that evaluates the expression. */
const MAX_TOKENS = 1000;

/**
 * The tokens of an expression, followed by an `end` token.
 * @throws ExpressionError at the first invalid text, or for more than a thousand tokens
 */
export function tokenize(text: string): readonly Token[] {
  const tokens: Token[] = [];
  const placeAt = placeFinder(text);
  SYNTAX.lastIndex = 0;
  while (SYNTAX.lastIndex < text.length) {
    const start = SYNTAX.lastIndex;
    const match = SYNTAX.exec(text);
    if (match === null)
      throw new ExpressionError(`"${text.slice(start, start + 20)}" is not understood`, placeAt(start));
    const group = match.slice(1).findIndex((part: string | undefined) => part !== undefined);
    const kind = KINDS[group];
    if (kind === undefined) continue;
    const meant = withoutEscapes(match[group + 1] ?? '');
    tokens.push({ kind, text: meant, isDelimited: group === DELIMITED_NAME, place: placeAt(start) });
    if (tokens.length > MAX_TOKENS) throw new ExpressionError('the expression is too long');
  }
  return [...tokens, { kind: 'end', text: '', isDelimited: false, place: placeAt(text.length) }];
}

/** Finds the position of an offset. Offsets must be requested in ascending order. */
function placeFinder(text: string): (offset: number) => Place {
  let line = 1;
  let lineStart = 0;
  return (offset) => {
    for (let end = text.indexOf('\n', lineStart); end !== -1 && end < offset; end = text.indexOf('\n', lineStart)) {
      line += 1;
      lineStart = end + 1;
    }
    return { line, column: offset - lineStart + 1 };
  };
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', f: '\f' };

/** `it\'s` becomes `it's` (http://hl7.org/fhirpath/N1/#string). */
function withoutEscapes(text: string): string {
  return text.replace(/\\(u[0-9a-fA-F]{4}|.)/gs, (_all, escape: string) =>
    escape.length > 1 ? String.fromCharCode(parseInt(escape.slice(1), 16)) : (ESCAPES[escape] ?? escape),
  );
}
