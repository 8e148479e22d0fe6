import { type Steps } from '../time/steps';
import { compactJsonInSteps } from './compact-json';
import { endOfString, endOfValue, unquoted } from './json-skip';

/** A number with its digits as written: `1.10` stays `1.10`. */
export class JsonNumber {
  constructor(readonly text: string) {}
}

/** An object as a Map. All keys, even `"10"`, stay in the order of the text, and no key can reach a prototype. */
export type JsonObject = Map<string, JsonValue>;

export type JsonValue = string | boolean | null | JsonNumber | JsonValue[] | JsonObject;

/** Parses JSON without rounding numbers. @throws JsonBodyError like {@link compactJsonInSteps} */
export function* parseLosslessInSteps(text: string): Steps<JsonValue> {
  return yield* parseStoredInSteps(yield* compactJsonInSteps(text));
}

/**
 * Parses a text that the server has stored, without rounding numbers. The limits of {@link compactJsonInSteps} are
 * those of a body: an addendum may exceed them, since it contains a whole body or a list of differences.
 */
export const parseStoredInSteps = (compact: string): Steps<JsonValue> => new LosslessReader(compact).value();

/** Members may be in any order. Numbers are compared by `isSameNumber`, by default as they are written. */
export function isSame(a: JsonValue, b: JsonValue, isSameNumber = isWrittenSame): boolean {
  if (a instanceof JsonNumber) return b instanceof JsonNumber && isSameNumber(a, b);
  if (Array.isArray(a)) {
    return (
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((element, index) => isSame(element, b[index] ?? null, isSameNumber))
    );
  }
  if (!(a instanceof Map)) return a === b;
  if (!(b instanceof Map) || a.size !== b.size) return false;
  for (const [key, member] of a) {
    const other = b.get(key);
    if (other === undefined || !isSame(member, other, isSameNumber)) return false;
  }
  return true;
}

const isWrittenSame = (a: JsonNumber, b: JsonNumber): boolean => a.text === b.text;

/** Values between two pauses. */
const VALUES_AT_ONCE = 2048;

/**
 * Prints a value as compact JSON text, with its members in order. Its depth is bounded, since texts are scanned and
 * patches limit the depth of their result. So printing and reading recurse.
 */
export const printLosslessInSteps = (value: JsonValue): Steps<string> => new LosslessPrinter().print(value);

class LosslessPrinter {
  private count = 0;

  *print(value: JsonValue): Steps<string> {
    if (++this.count % VALUES_AT_ONCE === 0) yield;
    if (value instanceof JsonNumber) return value.text;
    const texts: string[] = [];
    if (Array.isArray(value)) {
      for (const element of value) texts.push(yield* this.print(element));
      return `[${texts.join(',')}]`;
    }
    if (!(value instanceof Map)) return JSON.stringify(value);
    for (const [key, member] of value) texts.push(`${JSON.stringify(key)}:${yield* this.print(member)}`);
    return `{${texts.join(',')}}`;
  }
}

/** Parses compact JSON that was already checked; only its end is checked. */
class LosslessReader {
  private at = 0;
  private count = 0;

  constructor(private readonly text: string) {}

  *value(): Steps<JsonValue> {
    if (++this.count % VALUES_AT_ONCE === 0) yield;
    switch (this.text[this.at]) {
      case '[': {
        const array: JsonValue[] = [];
        while (this.hasNext(']')) array.push(yield* this.value());
        return array;
      }
      case '{': {
        const object: JsonObject = new Map();
        while (this.hasNext('}')) object.set(this.key(), yield* this.value());
        return object;
      }
      case '"':
        return this.string();
      default:
        return this.literal();
    }
  }

  /**
   * Skips the current opening bracket or comma. Returns whether a value follows; if not, the closing bracket is skipped
   * too.
   */
  private hasNext(closing: string): boolean {
    if (this.at >= this.text.length) throw new SyntaxError('A JSON text ends within an object or array.');
    if (this.text[this.at] !== closing) this.at++;
    if (this.text[this.at] !== closing) return true;
    this.at++;
    return false;
  }

  private key(): string {
    const key = this.string();
    this.at++;
    return key;
  }

  private string(): string {
    const start = this.at;
    this.at = endOfString(this.text, start);
    return unquoted(this.text.slice(start, this.at));
  }

  private literal(): JsonValue {
    const start = this.at;
    this.at = endOfValue(this.text, start);
    const token = this.text.slice(start, this.at);
    if (token === 'true') return true;
    if (token === 'false') return false;
    return token === 'null' ? null : new JsonNumber(token);
  }
}
