import { type Steps, atOnce } from '../time/steps';
import { type KindedCode } from '../errors/error-codes';
import { JsonBodyError } from './json-body-error';

/**
 * Checks a JSON text (RFC 8259) in one pass and drops the white space outside its strings.
 *
 * In addition to faults of the grammar, it refuses texts that different parsers read differently, or that could do
 * harm: duplicate keys (also when escaped differently), keys that reach a prototype, NUL and lone surrogates
 * (PostgreSQL stores neither), too much depth, numbers that are long or have an exponent beyond ±400 (PostgreSQL's
 * numeric would write out every digit), and so many values that `JSON.parse`, which cannot pause, would delay all other
 * requests.
 * @param maxDepth how deep objects and arrays may be nested; 64 by default
 * @throws JsonBodyError with the code and the position of the fault
 */
export const compactJson = (text: string, maxDepth?: number): string => atOnce(compactJsonInSteps(text, maxDepth));

/** In steps of less than a millisecond, for texts of megabytes. */
export const compactJsonInSteps = (text: string, maxDepth = 64): Steps<string> =>
  new JsonScanner(text, maxDepth).scan();

const MAX_NUMBER_LENGTH = 40;
const MAX_VALUES = 1_000_000;
/** Maximum number of members of one object. */
const MAX_MEMBERS = 100_000;
const MAX_EXPONENT = 400;

const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const COLON = 0x3a;
const OPENING_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSING_BRACKET = 0x5d;
const LETTER_E = 0x65;
const LETTER_F = 0x66;
const LETTER_N = 0x6e;
const LETTER_T = 0x74;
const LETTER_U = 0x75;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
/** The bit that is set in `e` and not in `E`. With it, both letters compare equal. */
const LOWER_CASE = 0x20;
const FIRST_SURROGATE = 0xd800;
const FIRST_LOW_SURROGATE = 0xdc00;
const LAST_SURROGATE = 0xdfff;

/** Characters that may follow a backslash (RFC 8259, section 7), without `\uXXXX`. */
const SIMPLE_ESCAPES = new Set(Array.from('"\\/bfnrt', (character) => character.charCodeAt(0)));

const PLAIN_NAME = /^[A-Za-z_][\w-]{0,63}$/;

/** Slices (between white space) that are joined at once, which limits the cost of a hostile text. */
const SLICES_AT_ONCE = 1024;

/** Values between two pauses. */
const VALUES_AT_ONCE = 2048;

/** An open object or array. There is one per depth, which is reused. */
interface OpenContainer {
  /** The key or index of the value that is being read. */
  step: string | number;
  readonly keys: Set<string>;
}

/** Keeps the open containers in a list, so that a deep text cannot exhaust the stack. */
class JsonScanner {
  private at = 0;
  private readonly containers: OpenContainer[] = [];
  private depth = 0;
  private values = 0;

  /** The text before this position is already in `slices` or `joined`. */
  private copiedTo = 0;
  private slices: string[] = [];
  private joined = '';

  constructor(
    private readonly text: string,
    private readonly maxDepth: number,
  ) {}

  *scan(): Steps<string> {
    let pauseAt = VALUES_AT_ONCE;
    do {
      this.value();
      if (this.values >= pauseAt) {
        pauseAt = this.values + VALUES_AT_ONCE;
        yield;
      }
    } while (this.hasNextValue());
    return this.compacted();
  }

  /** Reads opening brackets, up to a scalar or an empty container. */
  private value(): void {
    for (;;) {
      const code = this.next();
      this.count();
      if (code === OPENING_BRACE) {
        const container = this.open(true);
        if (this.next() === CLOSING_BRACE) return;
        this.key(container);
      } else if (code === OPENING_BRACKET) {
        this.open(false);
        if (this.next() === CLOSING_BRACKET) return;
      } else {
        this.scalar(code);
        return;
      }
    }
  }

  /**
   * Reads closing brackets up to a comma, and in an object the key after the comma. Returns false when all containers
   * are closed.
   */
  private hasNextValue(): boolean {
    for (;;) {
      const code = this.next();
      const container = this.containers[this.depth - 1];
      if (container === undefined) return false;
      if (code === COMMA) {
        this.at++;
        if (typeof container.step === 'number') container.step++;
        else this.key(container);
        return true;
      }
      const closing = typeof container.step === 'number' ? CLOSING_BRACKET : CLOSING_BRACE;
      if (code !== closing) this.malformed(closing === CLOSING_BRACKET ? "',' or ']'" : "',' or '}'");
      this.at++;
      this.depth--;
    }
  }

  private open(isObject: boolean): OpenContainer {
    const { maxDepth } = this;
    if (this.depth === maxDepth) this.refuse('body-too-deep', `Deeper than ${maxDepth} levels: nest less`, this.at);
    this.at++;
    const container = (this.containers[this.depth++] ??= { step: 0, keys: new Set() });
    container.step = isObject ? '' : 0;
    if (container.keys.size > 0) container.keys.clear();
    return container;
  }

  private count(): void {
    if (++this.values > MAX_VALUES) this.refuse('body-too-many-values', `More than ${MAX_VALUES} values`, this.at);
  }

  private key(container: OpenContainer): void {
    container.step = '';
    if (this.next() !== QUOTE) this.malformed('a key in quotes');
    const start = this.at;
    const hasEscapes = this.string();
    const key = hasEscapes
      ? (JSON.parse(this.text.slice(start, this.at)) as string)
      : this.text.slice(start + 1, this.at - 1);
    container.step = key;
    if (key === '__proto__' || key === 'constructor' || key === 'prototype') {
      this.refuse('body-forbidden-key', 'Key that is not allowed', start);
    }
    const keysBefore = container.keys.size;
    if (container.keys.add(key).size === keysBefore) this.refuse('body-duplicate-key', 'Duplicate key', start);
    if (keysBefore === MAX_MEMBERS)
      this.refuse('body-too-many-values', `Object of more than ${MAX_MEMBERS} members`, start);
    if (this.next() !== COLON) this.malformed("':'");
    this.at++;
  }

  /** Reads a string, and returns whether it has escapes. */
  private string(): boolean {
    const text = this.text;
    let hasEscapes = false;
    let at = this.at + 1;
    for (;;) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) break;
      if (code !== BACKSLASH && code >= SPACE && code < FIRST_SURROGATE) at++;
      else {
        this.at = at;
        if (code === BACKSLASH) {
          hasEscapes = true;
          this.escape();
        } else this.rareCharacter(code);
        at = this.at;
      }
    }
    this.at = at + 1;
    return hasEscapes;
  }

  private escape(): void {
    const start = this.at;
    const code = this.text.charCodeAt(start + 1);
    if (code !== LETTER_U) {
      if (!SIMPLE_ESCAPES.has(code)) this.malformed('an escape that JSON knows');
      this.at += 2;
      return;
    }
    const unit = this.escapedUnit();
    if (unit === 0) this.refuse('body-forbidden-text', 'U+0000 in a string', start);
    if (isSurrogate(unit)) {
      const low = this.text.startsWith('\\u', this.at) ? this.escapedUnit() : 0;
      if (!isPair(unit, low)) this.refuse('body-forbidden-text', 'Half of a surrogate pair in a string', start);
    }
  }

  /** Reads an escape `\uXXXX`, and returns its UTF-16 unit. */
  private escapedUnit(): number {
    const digits = this.text.slice(this.at + 2, this.at + 6);
    if (!/^[\da-f]{4}$/i.test(digits)) this.malformed('four hexadecimal digits');
    this.at += 6;
    return parseInt(digits, 16);
  }

  /**
   * Reads a character inside a string that needs a check: a surrogate, a character above the surrogates, a control
   * character, or the end of the text.
   */
  private rareCharacter(code: number): void {
    if (code > LAST_SURROGATE) this.at++;
    else if (!isSurrogate(code)) this.malformed('the rest of a string');
    else if (isPair(code, this.text.charCodeAt(this.at + 1))) this.at += 2;
    else this.refuse('body-forbidden-text', 'Half of a surrogate pair in a string', this.at);
  }

  private scalar(code: number): void {
    if (code === QUOTE) this.string();
    else if (code === MINUS || isDigit(code)) this.number();
    else if (code === LETTER_T) this.word('true');
    else if (code === LETTER_F) this.word('false');
    else if (code === LETTER_N) this.word('null');
    else this.malformed('a value');
  }

  private word(word: string): void {
    if (!this.text.startsWith(word, this.at)) this.malformed('a value');
    this.at += word.length;
  }

  private number(): void {
    const start = this.at;
    if (this.text.charCodeAt(start) === MINUS) this.at++;
    if (this.text.charCodeAt(this.at) === DIGIT_0) this.at++;
    else this.digits();
    if (this.text.charCodeAt(this.at) === POINT) {
      this.at++;
      this.digits();
    }
    const exponent = this.exponent();
    if (this.at - start > MAX_NUMBER_LENGTH) {
      this.refuse('body-number-too-long', `Number longer than ${MAX_NUMBER_LENGTH} characters`, start);
    }
    if (exponent > MAX_EXPONENT) this.refuse('body-number-too-long', `Exponent beyond ±${MAX_EXPONENT}`, start);
  }

  /** Returns the absolute value of an exponent; 0 if there is none. */
  private exponent(): number {
    if ((this.text.charCodeAt(this.at) | LOWER_CASE) !== LETTER_E) return 0;
    this.at++;
    const sign = this.text.charCodeAt(this.at);
    if (sign === PLUS || sign === MINUS) this.at++;
    const start = this.at;
    this.digits();
    return Number(this.text.slice(start, this.at));
  }

  private digits(): void {
    if (!isDigit(this.text.charCodeAt(this.at))) this.malformed('a digit');
    do this.at++;
    while (isDigit(this.text.charCodeAt(this.at)));
  }

  /** Returns the next character after white space; NaN at the end of the text. */
  private next(): number {
    const code = this.text.charCodeAt(this.at);
    return code <= SPACE ? this.skipSpace(code) : code;
  }

  private skipSpace(first: number): number {
    const start = this.at;
    let code = first;
    while (isSpace(code)) code = this.text.charCodeAt(++this.at);
    if (start > this.copiedTo) this.slices.push(this.text.slice(this.copiedTo, start));
    if (this.slices.length === SLICES_AT_ONCE) {
      this.joined += this.slices.join('');
      this.slices = [];
    }
    this.copiedTo = this.at;
    return code;
  }

  private compacted(): string {
    if (this.at < this.text.length) this.malformed('end of text');
    if (this.copiedTo === 0) return this.text;
    return this.joined + this.slices.join('') + this.text.slice(this.copiedTo);
  }

  private malformed(expected: string): never {
    return this.refuse('body-malformed', `Malformed JSON: expected ${expected}`, this.at);
  }

  private refuse(code: KindedCode, reason: string, at: number): never {
    let line = 1;
    let lineStart = 0;
    for (let end = this.text.indexOf('\n'); end >= 0 && end < at; end = this.text.indexOf('\n', lineStart)) {
      line++;
      lineStart = end + 1;
    }
    const place = { path: containerPath(this.containers.slice(0, this.depth)), line, column: at - lineStart + 1 };
    throw new JsonBodyError(code, reason, place);
  }
}

function isSpace(code: number): boolean {
  return code === SPACE || code === LINE_FEED || code === CARRIAGE_RETURN || code === TAB;
}

function isDigit(code: number): boolean {
  return code >= DIGIT_0 && code <= DIGIT_9;
}

function isSurrogate(unit: number): boolean {
  return unit >= FIRST_SURROGATE && unit <= LAST_SURROGATE;
}

function isPair(high: number, low: number): boolean {
  return high < FIRST_LOW_SURROGATE && low >= FIRST_LOW_SURROGATE && low <= LAST_SURROGATE;
}

/** Steps at each end of a long path. */
const SHOWN_STEPS = 4;

/**
 * Returns the path of the current value, such as `name[0].given`. A key that is no plain name could be anything, even
 * patient data, so it is shown as `*`.
 */
function containerPath(containers: readonly OpenContainer[]): string {
  const steps = containers
    .filter(({ step }) => step !== '')
    .map(({ step }) => (typeof step === 'number' ? `[${step}]` : `.${PLAIN_NAME.test(step) ? step : '*'}`));
  const shown =
    steps.length <= 2 * SHOWN_STEPS ? steps : [...steps.slice(0, SHOWN_STEPS), '…', ...steps.slice(-SHOWN_STEPS)];
  return shown.join('').replace(/^\./, '');
}
