import { type TimelineEntry } from './timeline-entry';

/**
 * The maximum number of entries. A higher list would exceed the maximum height of an element in Firefox, so the page
 * stops reading there and says so.
 */
export const MAX_ENTRIES = 400_000;

/** A row of the list: the header of a month, or an entry. */
export type TimelineRow =
  | { readonly kind: 'month'; readonly month: string; readonly count: number }
  | { readonly kind: 'entry'; readonly entry: TimelineEntry };

interface Month {
  readonly month: string;
  readonly entries: TimelineEntry[];
  isSorted: boolean;
}

/** The name of the group of entries without a date. */
export const NO_DATE = 'No date';

/** The entries by month, latest first. Adding an entry is cheap: only visible months are sorted, after they changed. */
export class Timeline {
  private readonly all: TimelineEntry[] = [];
  private readonly counts = new Map<string, number>();
  private readonly labels = new Map<string, string>();
  private months = new Map<string, Month>();
  private types: ReadonlySet<string> | undefined;
  private index: { readonly months: readonly Month[]; readonly starts: readonly number[]; length: number } | undefined;

  get size(): number {
    return this.all.length;
  }

  get isFull(): boolean {
    return this.all.length >= MAX_ENTRIES;
  }

  /** Number of entries by type, the most frequent type first. */
  countsByType(): readonly (readonly [type: string, count: number])[] {
    return [...this.counts].sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1));
  }

  add(entry: TimelineEntry): void {
    // Most labels repeat, so equal labels share one string.
    const label = this.shared(entry.label);
    const kept = { ...entry, type: this.shared(entry.type), label };
    this.all.push(kept);
    this.counts.set(kept.type, (this.counts.get(kept.type) ?? 0) + 1);
    this.place(kept);
  }

  /** Shows only these types; undefined shows all. */
  show(types: ReadonlySet<string> | undefined): void {
    this.types = types;
    this.months = new Map();
    this.index = undefined;
    for (const entry of this.all) this.place(entry);
  }

  /** The number of rows, including the headers of months. */
  get length(): number {
    return this.indexed().length;
  }

  row(position: number): TimelineRow | undefined {
    const { months, starts, length } = this.indexed();
    if (position < 0 || position >= length) return undefined;
    let [low, high] = [0, months.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= position) low = middle;
      else high = middle - 1;
    }
    const month = months[low];
    if (month === undefined) return undefined;
    const offset = position - (starts[low] ?? 0);
    if (offset === 0) return { kind: 'month', month: month.month, count: month.entries.length };
    if (!month.isSorted) {
      month.entries.sort((one, other) => other.at - one.at || (one.id < other.id ? -1 : 1));
      month.isSorted = true;
    }
    const entry = month.entries[offset - 1];
    return entry === undefined ? undefined : { kind: 'entry', entry };
  }

  /** The months with the index of their first row. */
  monthStarts(): readonly { readonly month: string; readonly count: number; readonly row: number }[] {
    const { months, starts } = this.indexed();
    return months.map(({ month, entries }, at) => ({ month, count: entries.length, row: starts[at] ?? 0 }));
  }

  private place(entry: TimelineEntry): void {
    if (this.types?.has(entry.type) === false) return;
    const name = monthOf(entry);
    const month = this.months.get(name);
    if (month === undefined) this.months.set(name, { month: name, entries: [entry], isSorted: true });
    else {
      month.entries.push(entry);
      month.isSorted = false;
    }
    this.index = undefined;
  }

  private shared(text: string): string {
    const known = this.labels.get(text);
    if (known !== undefined) return known;
    // Free texts would make this map as large as the list, so its size has a limit.
    if (this.labels.size < 50_000) this.labels.set(text, text);
    return text;
  }

  private indexed(): NonNullable<Timeline['index']> {
    if (this.index !== undefined) return this.index;
    const months = [...this.months.values()].sort((one, other) => compareMonths(other.month, one.month));
    const starts: number[] = [];
    let length = 0;
    for (const { entries } of months) {
      starts.push(length);
      length += entries.length + 1;
    }
    this.index = { months, starts, length };
    return this.index;
  }
}

/** The month of an entry, taken from the date as sent: the month as the people concerned experienced it. */
const monthOf = ({ date }: TimelineEntry): string => (/^\d{4}/.test(date) ? date.slice(0, 7) : NO_DATE);

const compareMonths = (one: string, other: string): number => {
  if (one === NO_DATE) return other === NO_DATE ? 0 : -1;
  if (other === NO_DATE) return 1;
  return one < other ? -1 : one > other ? 1 : 0;
};
