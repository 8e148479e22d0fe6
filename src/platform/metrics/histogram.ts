import { type MetricFamily, type Sample } from './metric-family';

/** Upper bounds of the buckets, from the time of a one-row read to the time limit of a request. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

type Labels = Readonly<Record<string, string>>;

/** The observed times of one combination of labels. */
export class Series {
  /** How many times are in each bucket; the last element counts times above the largest bound. */
  readonly counts: number[];
  sum = 0;

  constructor(readonly labels: Labels) {
    this.counts = [...SECONDS, Infinity].map(() => 0);
  }

  observe(seconds: number): void {
    let bucket = 0;
    while (seconds > (SECONDS[bucket] ?? Infinity)) bucket++;
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
    this.sum += seconds;
  }
}

/** Times by labels, counted in buckets. The counts of several processes can be added. */
export class Histogram {
  private readonly series = new Map<string, Series>();

  constructor(
    private readonly name: string,
    private readonly help: string,
  ) {}

  /** @param labels of few different values, since each combination is kept in memory */
  of(labels: Labels = {}): Series {
    let key = '';
    for (const name in labels) key += `${labels[name] ?? ''} `;
    const known = this.series.get(key);
    if (known !== undefined) return known;
    const series = new Series(labels);
    this.series.set(key, series);
    return series;
  }

  read(): MetricFamily {
    const samples = [...this.series.values()].flatMap(({ labels, counts, sum }) => {
      let total = 0;
      return histogramSamples(
        labels,
        SECONDS,
        counts.map((count) => (total += count)),
        sum,
      );
    });
    return { name: this.name, type: 'histogram', help: this.help, samples };
  }

  /** The number of times in the wanted series. */
  count(isWanted: (labels: Labels) => boolean): number {
    const wanted = [...this.series.values()].filter(({ labels }) => isWanted(labels));
    return wanted.flatMap(({ counts }) => counts).reduce((total, count) => total + count, 0);
  }
}

/** @param counts how many times are at most each bound; the last one counts all */
export function histogramSamples(
  labels: Labels,
  bounds: readonly number[],
  counts: readonly number[],
  sum: number,
): Sample[] {
  return [
    ...[...bounds.map(String), '+Inf'].map((le, index) => ({
      suffix: '_bucket' as const,
      labels: { ...labels, le },
      value: counts[index] ?? 0,
    })),
    { suffix: '_sum', labels, value: sum },
    { suffix: '_count', labels, value: counts.at(-1) ?? 0 },
  ];
}
