import { compactJson } from './compact-json';
import { objectText } from './json-members';
import { endOfString, endOfValue } from './json-skip';

/** A number by its digits: `1.10` stays `1.10`. */
export class JsonNumber {
  constructor(readonly text: string) {}
}

/** An object as a Map: keys stay in the order of the text, `"10"` too, and none can reach a prototype. */
export type JsonObject = Map<string, JsonValue>;

export type JsonValue = string | boolean | null | JsonNumber | JsonValue[] | JsonObject;

/**
 * Parses JSON without rounding numbers.
 * @throws JsonBodyError for what {@link compactJson} refuses.
 */
export function parseLossless(text: string): JsonValue {
  return new LosslessReader(compactJson(text)).value();
}

/** Prints a value as compact JSON text, members in their order. */
export function printLossless(value: JsonValue): string {
  return printed(value, (object) => object);
}

/** Prints a value with its keys sorted by UTF-16 unit: two values are the same exactly when these texts are. */
export function canonicalText(value: JsonValue): string {
  return printed(value, (object) => [...object].sort(([a], [b]) => (a < b ? -1 : 1)));
}

type MemberOrder = (object: JsonObject) => Iterable<[string, JsonValue]>;

function printed(value: JsonValue, order: MemberOrder): string {
  if (value instanceof JsonNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map((element) => printed(element, order)).join(',')}]`;
  if (!(value instanceof Map)) return JSON.stringify(value);
  return objectText(Array.from(order(value), ([key, member]) => [key, printed(member, order)]));
}

/** Reads compact JSON that was scanned, so it recurses no deeper than the scan allows and checks nothing again. */
class LosslessReader {
  private at = 0;

  constructor(private readonly text: string) {}

  value(): JsonValue {
    switch (this.text[this.at]) {
      case '{':
        return this.object();
      case '[':
        return this.array();
      case '"':
        return this.string();
      default:
        return this.literal();
    }
  }

  private object(): JsonObject {
    const object: JsonObject = new Map();
    while (this.hasNext('}')) {
      const key = this.string();
      this.at++;
      object.set(key, this.value());
    }
    return object;
  }

  private array(): JsonValue[] {
    const array: JsonValue[] = [];
    while (this.hasNext(']')) array.push(this.value());
    return array;
  }

  /** Steps over the opening bracket or comma at hand; over the closing bracket too when nothing more comes. */
  private hasNext(closing: string): boolean {
    if (this.text[this.at] !== closing) this.at++;
    if (this.text[this.at] !== closing) return true;
    this.at++;
    return false;
  }

  private string(): string {
    const start = this.at;
    this.at = endOfString(this.text, start);
    const token = this.text.slice(start, this.at);
    return token.includes('\\') ? (JSON.parse(token) as string) : token.slice(1, -1);
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
