import { type MetricFamily, type Sample } from './metric-family';

/** From a read of one row to the longest allowed request. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

type Labels = Readonly<Record<string, string>>;

/** The times for one combination of labels. */
export class Series {
  /** Number of times up to each bound, and of longer ones. */
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

/** Times by labels, in buckets, which can be added up over processes. */
export class Histogram {
  private readonly series = new Map<string, Series>();

  constructor(
    private readonly name: string,
    private readonly help: string,
  ) {}

  /**
   * @param labels with few values, since each combination is kept
   */
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

  /** Number of observations in the series that `isWanted` selects. */
  count(isWanted: (labels: Labels) => boolean): number {
    const wanted = [...this.series.values()].filter(({ labels }) => isWanted(labels));
    return wanted.flatMap(({ counts }) => counts).reduce((total, count) => total + count, 0);
  }
}

/**
 * @param counts number of times up to each bound; the last one counts all
 */
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
