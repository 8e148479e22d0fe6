/** A range as typed, with times of this device. */
export interface RangeText {
  readonly kind: 'time' | 'number';
  readonly since: string;
  readonly until: string;
  readonly from: string;
  readonly to: string;
}

export type Range = Readonly<Record<'since' | 'until' | 'from' | 'to', string | undefined>>;

/**
 * The parameters of `$replay` for a typed range. Both ends are inclusive, so the end becomes the last millisecond of
 * the typed second.
 */
export function rangeOf({ kind, since, until, from, to }: RangeText): Range {
  const none = { since: undefined, until: undefined, from: undefined, to: undefined };
  if (kind === 'number') return { ...none, from: from === '' ? undefined : from, to: to === '' ? undefined : to };
  return { ...none, since: instantOf(since, 0), until: instantOf(until, 999) };
}

export const isEmptyRange = (range: Range): boolean => Object.values(range).every((value) => value === undefined);

/** Faults of a range, found before the request. */
export function rangeFault(text: RangeText): string | undefined {
  const { since, until, from, to } = rangeOf(text);
  if (text.kind === 'number') {
    if ([from, to].some((one) => one !== undefined && !/^[1-9]\d{0,14}$/.test(one)))
      return 'Numbers are whole, from 1 on.';
    return from !== undefined && to !== undefined && Number(from) > Number(to)
      ? 'The range ends before it begins.'
      : undefined;
  }
  return since !== undefined && until !== undefined && since > until ? 'The range ends before it begins.' : undefined;
}

function instantOf(local: string, milliseconds: number): string | undefined {
  const time = new Date(local);
  if (local === '' || Number.isNaN(time.getTime())) return undefined;
  return new Date(time.getTime() + milliseconds).toISOString();
}
