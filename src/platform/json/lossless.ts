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

/**
 * Parses JSON without rounding numbers.
 * @throws JsonBodyError like {@link compactJsonInSteps}
 */
export function* parseLosslessInSteps(text: string): Steps<JsonValue> {
  return yield* new LosslessReader(yield* compactJsonInSteps(text)).value();
}

/**
 * Whether two values are equal. Members may be in any order. Numbers are compared by `isSameNumber`, by default as they
 * are written.
 */
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

/** How many values are handled between two pauses. */
const VALUES_AT_ONCE = 2048;

/**
 * Prints a value as compact JSON text, with its members in order. The open containers are kept in a list, so that
 * printing can pause.
 */
export function* printLosslessInSteps(value: JsonValue): Steps<string> {
  const open: { readonly items: Items; readonly closing: string; comma: string }[] = [];
  let text = '';
  let next: JsonValue | undefined = value;
  for (let count = 1; next !== undefined; count++) {
    if (count % VALUES_AT_ONCE === 0) yield;
    if (Array.isArray(next)) {
      text += '[';
      open.push({ items: elementsOf(next), closing: ']', comma: '' });
    } else if (next instanceof Map) {
      text += '{';
      open.push({ items: memberItems(next), closing: '}', comma: '' });
    } else text += next instanceof JsonNumber ? next.text : JSON.stringify(next);
    next = undefined;
    for (let inner = open.at(-1); inner !== undefined && next === undefined; inner = open.at(-1)) {
      const item = inner.items.next();
      if (item.done === true) {
        text += inner.closing;
        open.pop();
      } else {
        text += inner.comma + item.value[0];
        inner.comma = ',';
        next = item.value[1];
      }
    }
  }
  return text;
}

/** The items of an object or array, each with the text to print before it. */
type Items = Iterator<readonly [before: string, value: JsonValue], void>;

function* elementsOf(array: readonly JsonValue[]): Items {
  for (const element of array) yield ['', element];
}

function* memberItems(members: JsonObject): Items {
  for (const [key, member] of members) yield [`${JSON.stringify(key)}:`, member];
}

/** Parses compact JSON that was already checked, without checking it again. */
class LosslessReader {
  private at = 0;

  constructor(private readonly text: string) {}

  /** Reads a value. The open containers are kept in a list, so that reading can pause inside them. */
  *value(): Steps<JsonValue> {
    const open: (JsonObject | JsonValue[])[] = [];
    const keys: string[] = [];
    for (let count = 1; ; count++) {
      if (count % VALUES_AT_ONCE === 0) yield;
      let value = this.next();
      // A scalar or an empty container is complete, and may be the last value of the containers around it.
      if (isContainer(value) && this.hasNext(value)) {
        open.push(value);
        if (value instanceof Map) keys.push(this.key());
        continue;
      }
      for (;;) {
        const outer = open.at(-1);
        if (outer === undefined) return value;
        if (outer instanceof Map) outer.set(keys.pop() ?? '', value);
        else outer.push(value);
        if (this.hasNext(outer)) {
          if (outer instanceof Map) keys.push(this.key());
          break;
        }
        value = outer;
        open.pop();
      }
    }
  }

  /** Reads a scalar, or the opening bracket of a container, whose values are not read yet. */
  private next(): JsonValue {
    const start = this.text[this.at];
    if (start === '{') return new Map<string, JsonValue>();
    if (start === '[') return [];
    return start === '"' ? this.string() : this.literal();
  }

  /**
   * Skips the current opening bracket or comma. Returns whether a value follows; if not, the closing bracket is skipped
   * too.
   */
  private hasNext(container: JsonObject | JsonValue[]): boolean {
    const closing = container instanceof Map ? '}' : ']';
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

const isContainer = (value: JsonValue): value is JsonObject | JsonValue[] =>
  value instanceof Map || Array.isArray(value);
