import { family, type MetricFamily } from './metric-family';

type Labels = Readonly<Record<string, string>>;

/** A counter metric, with a count for each combination of labels. */
export class Counter {
  private readonly counts = new Map<string, { readonly labels: Labels; value: number }>();

  /**
   * @param zeros labels whose counts are exported from the start, with the value 0. An alert on a single event needs
   * them: for Prometheus, a series that appears with the value 1 has no increase.
   */
  constructor(
    private readonly name: string,
    private readonly help: string,
    zeros: readonly Labels[] = [],
  ) {
    for (const labels of zeros) this.countOf(labels);
  }

  /** @param labels labels with few different values, since each combination is kept in memory */
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
