import { endOfString, endOfValue } from '../json/json-skip';

/** Text that every YAML reader, of version 1.1 too, takes for a string when it stands without quotes. */
const PLAIN = /^"[A-Za-z](?:[\w./+-]|:(?=[^\s"])| (?=[\w./+-]))*"$/;
const WORDS_OF_OTHER_TYPES = /^"(?:true|false|yes|no|on|off|y|n|null)"$/i;

/** What JSON strings may hold as it is and YAML's double-quoted ones may not, or read as a line break. */
const UNPRINTABLE = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;

/** An implicit key ends within 1,024 characters (https://yaml.org/spec/1.2.2/#742-flow-mappings). */
const LONGEST_IMPLICIT_KEY = 1000;

/**
 * Prints compact JSON text as YAML 1.2 in block style. Numbers keep their digits, strings that could be taken for
 * something else are quoted. The text must be valid and compact, as `readJson` makes it.
 */
export function yamlOf(text: string): string {
  const parts: string[] = [];
  new YamlPrinter(text, parts).document();
  return parts.join('');
}

/** Reads JSON that was scanned, so it recurses no deeper than the scan allows. */
class YamlPrinter {
  private at = 0;

  constructor(
    private readonly text: string,
    private readonly parts: string[],
  ) {}

  document(): void {
    if (this.isFilled()) this.collection('\n', true);
    else this.parts.push(this.scalar());
    this.parts.push('\n');
  }

  /** Prints the members of an object or array; the first one on the line at hand when `isInline`. */
  private collection(lineBreak: string, isInline: boolean): void {
    const isObject = this.text[this.at] === '{';
    const closing = isObject ? '}' : ']';
    for (let isFirst = true; this.text[this.at] !== closing; isFirst = false) {
      this.at++;
      if (!isFirst || !isInline) this.parts.push(lineBreak);
      if (isObject) this.member(lineBreak);
      else this.element(lineBreak);
    }
    this.at++;
  }

  private member(lineBreak: string): void {
    const key = this.scalar();
    this.at++;
    this.parts.push(...(key.length > LONGEST_IMPLICIT_KEY ? ['? ', key, lineBreak, ':'] : [key, ':']));
    if (this.isFilled()) this.collection(`${lineBreak}  `, false);
    else this.parts.push(' ', this.scalar());
  }

  private element(lineBreak: string): void {
    this.parts.push('- ');
    if (this.isFilled()) this.collection(`${lineBreak}  `, true);
    else this.parts.push(this.scalar());
  }

  private isFilled(): boolean {
    const [opening, next] = [this.text[this.at], this.text[this.at + 1]];
    return (opening === '{' && next !== '}') || (opening === '[' && next !== ']');
  }

  /** Reads a string, number or word, or an empty collection. */
  private scalar(): string {
    const start = this.at;
    if (this.text[start] !== '"') {
      this.at = endOfValue(this.text, start);
      return this.text.slice(start, this.at);
    }
    this.at = endOfString(this.text, start);
    return stringOf(this.text.slice(start, this.at));
  }
}

function stringOf(token: string): string {
  if (PLAIN.test(token) && !WORDS_OF_OTHER_TYPES.test(token)) return token.slice(1, -1);
  // A pair of escaped surrogates is one character in JSON and two wrong ones in YAML.
  const raw = token.includes('\\u') ? JSON.stringify(JSON.parse(token)) : token;
  return raw.replace(UNPRINTABLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
