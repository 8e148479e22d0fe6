import { family, type MetricFamily, type Sample } from './metric-family';

/** A counter metric, with a count for each combination of labels. */
export class Counter {
  private readonly counts = new Map<string, Required<Pick<Sample, 'labels'>> & { value: number }>();

  constructor(
    private readonly name: string,
    private readonly help: string,
  ) {}

  /** @param labels labels with few different values, since each combination is kept in memory */
  add(labels: Readonly<Record<string, string>>): void {
    const key = Object.values(labels).join(' ');
    const count = this.counts.get(key) ?? { labels, value: 0 };
    this.counts.set(key, count);
    count.value++;
  }

  read(): MetricFamily {
    return family('counter', this.name, this.help, [...this.counts.values()]);
  }
}
