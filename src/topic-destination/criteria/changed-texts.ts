interface Values {
  readonly current: unknown;
  readonly previous: unknown;
}

/** A change as criteria see it: the stored texts before and after, undefined if absent. */
export class ChangedTexts {
  /** @param parsed the values of the texts, if already parsed */
  constructor(
    readonly current: string | undefined,
    readonly previous: string | undefined,
    private parsed?: Values,
  ) {}

  /** Parsed once and shared; code that may modify the values must parse the texts itself. */
  get values(): Values {
    this.parsed ??= { current: parsedText(this.current), previous: parsedText(this.previous) };
    return this.parsed;
  }

  get length(): number {
    return (this.current?.length ?? 0) + (this.previous?.length ?? 0);
  }
}

const parsedText = (text: string | undefined): unknown => (text === undefined ? undefined : JSON.parse(text));
