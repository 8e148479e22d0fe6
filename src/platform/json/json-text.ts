/** Carries text that is known to be one valid, compact JSON value, so that it is answered as it is. */
export class JsonText {
  constructor(readonly text: string) {}

  toString(): string {
    return this.text;
  }
}
