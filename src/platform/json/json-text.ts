/**
 * A text that is known to be one valid, compact JSON value, so that it is sent as it is.
 * @example
 * const result = new JsonText('{"value":1.10}'); // the digits stay
 */
export class JsonText {
  constructor(readonly text: string) {}

  toString(): string {
    return this.text;
  }
}

/** A JsonText stays as it is, and `undefined` becomes `null`. */
export const jsonTextOf = (value: unknown): string =>
  value instanceof JsonText ? value.text : value === undefined ? 'null' : JSON.stringify(value);
