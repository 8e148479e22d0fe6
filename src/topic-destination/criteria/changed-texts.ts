interface Values {
  readonly current: unknown;
  readonly previous: unknown;
}

/** A change as criteria see it: what is stored before and after, absent where there is nothing. */
export class ChangedTexts {
  /** @param parsed the values of the texts, where they are known */
  constructor(
    readonly current: string | undefined,
    readonly previous: string | undefined,
    private parsed?: Values,
  ) {}

  /** Parsed once; code that may change its input parses the texts itself. */
  get values(): Values {
    this.parsed ??= { current: parsedText(this.current), previous: parsedText(this.previous) };
    return this.parsed;
  }

  get length(): number {
    return (this.current?.length ?? 0) + (this.previous?.length ?? 0);
  }
}

const parsedText = (text: string | undefined): unknown => (text === undefined ? undefined : JSON.parse(text));
