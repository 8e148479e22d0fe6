import { family, type MetricFamily } from './metric-family';

type Labels = Readonly<Record<string, string>>;

/** A count for each combination of labels. */
export class Counter {
  private readonly counts = new Map<string, { readonly labels: Labels; value: number }>();

  /**
   * @param zeros labels that are exported as 0 from the start: for Prometheus, a series that appears with the value 1
   * has no increase
   */
  constructor(
    private readonly name: string,
    private readonly help: string,
    zeros: readonly Labels[] = [],
  ) {
    for (const labels of zeros) this.countOf(labels);
  }

  /** @param labels of few different values, since each combination is kept in memory */
  add(labels: Labels): void {
    this.countOf(labels).value++;
  }

  private countOf(labels: Labels): { value: number } {
    const key = Object.values(labels).join(' ');
    const count = this.counts.get(key) ?? { labels, value: 0 };
    this.counts.set(key, count);
    return count;
  }

  read(): MetricFamily {
    return family('counter', this.name, this.help, [...this.counts.values()]);
  }
}
