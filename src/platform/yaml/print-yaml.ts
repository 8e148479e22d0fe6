import { printedTokens } from '../json/json-tokens';

/** JSON strings that need no quotes in YAML: every YAML parser, also of version 1.1, reads them as a string. */
const PLAIN = /^"[A-Za-z](?:[\w./+-]|:(?=[^\s"])| (?=[\w./+-]))*"$/;
const WORDS_OF_OTHER_TYPES = /^"(?:true|false|yes|no|on|off|y|n|null)"$/i;

/**
 * Characters that must be escaped: they are allowed in JSON strings, but in double-quoted YAML strings they are
 * forbidden or are line breaks.
 */
const UNPRINTABLE = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;

/** Maximum length of an implicit key (https://yaml.org/spec/1.2.2/#742-flow-mappings). */
const LONGEST_IMPLICIT_KEY = 1000;

interface Collection {
  readonly isObject: boolean;
  readonly lineBreak: string;
  /** The next member or element begins on the current line. */
  isInline: boolean;
  isKeyNext: boolean;
}

/**
 * Prints compact JSON text as YAML 1.2 in block style. Numbers keep their digits, and ambiguous strings are quoted. The
 * text must be valid and compact, as `readJson` makes it. It may arrive in parts that end between tokens.
 */
export class YamlOfJson {
  private readonly collections: Collection[] = [];
  /** The opening bracket of a collection that may turn out to be empty. */
  private opening = '';

  print(text: string): Iterable<string> {
    return printedTokens(text, (token) => this.token(token));
  }

  end(): string {
    return '\n';
  }

  private token(token: string): string {
    const last = this.collections.at(-1);
    switch (token) {
      case ':':
        return '';
      case ',':
        if (last !== undefined) last.isKeyNext = last.isObject;
        return '';
      case '}':
      case ']':
        return this.closed(token);
      case '{':
      case '[': {
        this.begin();
        const before = this.beforeElement();
        this.opening = token;
        return before;
      }
      default:
        this.begin();
        return this.scalar(textOfToken(token));
    }
  }

  /** Called when the last opened collection gets its first content, so it is not empty. */
  private begin(): void {
    if (this.opening === '') return;
    const parent = this.collections.at(-1);
    const isObject = this.opening === '{';
    this.opening = '';
    this.collections.push({
      isObject,
      lineBreak: parent === undefined ? '\n' : `${parent.lineBreak}  `,
      isInline: parent?.isObject !== true,
      isKeyNext: isObject,
    });
  }

  private closed(token: string): string {
    const { opening } = this;
    this.opening = '';
    if (opening !== '') return `${this.collections.at(-1)?.isObject === true ? ' ' : ''}${opening}${token}`;
    this.collections.pop();
    return '';
  }

  private scalar(text: string): string {
    const last = this.collections.at(-1);
    if (last?.isObject !== true) return `${this.beforeElement()}${text}`;
    if (!last.isKeyNext) return ` ${text}`;
    last.isKeyNext = false;
    const key = text.length > LONGEST_IMPLICIT_KEY ? `? ${text}${last.lineBreak}:` : `${text}:`;
    return `${lineOf(last)}${key}`;
  }

  private beforeElement(): string {
    const last = this.collections.at(-1);
    return last === undefined || last.isObject ? '' : `${lineOf(last)}- `;
  }
}

function lineOf(collection: Collection): string {
  const { isInline, lineBreak } = collection;
  collection.isInline = false;
  return isInline ? '' : lineBreak;
}

function textOfToken(token: string): string {
  if (!token.startsWith('"')) return token;
  if (PLAIN.test(token) && !WORDS_OF_OTHER_TYPES.test(token)) return token.slice(1, -1);
  // A pair of escaped surrogates is one character in JSON. In YAML it would be two invalid characters, so it is
  // unescaped.
  const raw = token.includes('\\u') ? JSON.stringify(JSON.parse(token)) : token;
  return raw.replace(UNPRINTABLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
