interface Values {
  readonly current: unknown;
  readonly previous: unknown;
}

/** A change as criteria see it: the stored texts after and before it. One is undefined at a creation or deletion. */
export class ChangedTexts {
  /** @param parsed the values of the texts, if they are already parsed */
  constructor(
    readonly current: string | undefined,
    readonly previous: string | undefined,
    private parsed?: Values,
  ) {}

  /** The values of the texts. They are shared: parse the texts again to modify them. */
  get values(): Values {
    this.parsed ??= { current: parsedText(this.current), previous: parsedText(this.previous) };
    return this.parsed;
  }

  get length(): number {
    return (this.current?.length ?? 0) + (this.previous?.length ?? 0);
  }
}

const parsedText = (text: string | undefined): unknown => (text === undefined ? undefined : JSON.parse(text));
