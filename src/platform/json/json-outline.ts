import { endOfString, endOfValue, unquoted } from './json-skip';

/** The position of a value in a text: from `start` to before `end`. */
export interface JsonSpan {
  readonly start: number;
  readonly end: number;
}

/**
 * The position of a member of an object, or of an element of an array. The key of an element is its index in decimal.
 */
export interface JsonChild extends JsonSpan {
  readonly key: string;
}

const QUOTE = 0x22;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/** How many characters are read between two pauses. It takes less than a millisecond. */
const CHARACTERS_AT_ONCE = 32_768;

/**
 * A compact JSON text with the end position of each of its objects and arrays. So a walk can skip a value of any size
 * in constant time. No tree is built, since 5 MB of JSON contain hundreds of thousands of values.
 */
export class JsonOutline {
  private constructor(
    readonly text: string,
    /**
     * End positions, by the position of the opening bracket; 0 elsewhere. The array has four bytes for each character
     * of the text, since positions are looked up very often.
     */
    private readonly ends: Uint32Array,
  ) {}

  /** Reads a valid, compact JSON text in steps. */
  static *of(text: string): Generator<void, JsonOutline, void> {
    const ends = new Uint32Array(text.length);
    const open: number[] = [];
    let pauseAt = CHARACTERS_AT_ONCE;
    for (let at = 0; at < text.length;) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) at = endOfString(text, at);
      else {
        if (code === OPENING_BRACE || code === OPENING_BRACKET) open.push(at);
        else if (code === CLOSING_BRACE || code === CLOSING_BRACKET) ends[open.pop() ?? 0] = at + 1;
        at++;
      }
      if (at < pauseAt) continue;
      pauseAt = at + CHARACTERS_AT_ONCE;
      yield;
    }
    return new JsonOutline(text, ends);
  }

  get root(): JsonSpan {
    return { start: 0, end: this.text.length };
  }

  textOf({ start, end }: JsonSpan): string {
    return this.text.slice(start, end);
  }

  /** Whether a value is an object or array with children. Any other value is a leaf. */
  isBranch({ start, end }: JsonSpan): boolean {
    return end - start > 2 && this.ends[start] !== 0;
  }

  isArray({ start }: Pick<JsonSpan, 'start'>): boolean {
    return this.text.charCodeAt(start) === OPENING_BRACKET;
  }

  /** The children of an object or array in order; none for a leaf. */
  *childrenOf(span: JsonSpan): Generator<JsonChild, void, void> {
    if (!this.isBranch(span)) return;
    const hasKeys = this.text.charCodeAt(span.start) === OPENING_BRACE;
    let index = 0;
    for (let at = span.start; at < span.end - 1;) {
      let start = at + 1;
      let key: string;
      if (hasKeys) {
        const keyEnd = endOfString(this.text, start);
        key = unquoted(this.text.slice(start, keyEnd));
        start = keyEnd + 1;
      } else key = String(index++);
      at = this.endOf(start);
      yield { key, start, end: at };
    }
  }

  private endOf(start: number): number {
    const end = this.ends[start] ?? 0;
    return end > 0 ? end : endOfValue(this.text, start);
  }
}
