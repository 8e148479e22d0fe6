/** A change as criteria see it: what is stored before and after, absent where there is nothing. */
export class ChangedTexts {
  private parsed: { readonly current: unknown; readonly previous: unknown } | undefined;

  constructor(
    readonly current: string | undefined,
    readonly previous: string | undefined,
  ) {}

  /** Parsed once; who may change what it is given parses the texts itself. */
  get values(): { readonly current: unknown; readonly previous: unknown } {
    this.parsed ??= { current: valueOf(this.current), previous: valueOf(this.previous) };
    return this.parsed;
  }

  get length(): number {
    return (this.current?.length ?? 0) + (this.previous?.length ?? 0);
  }
}

const valueOf = (text: string | undefined): unknown => (text === undefined ? undefined : JSON.parse(text));
