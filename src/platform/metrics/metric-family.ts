/** One value of a family. */
export interface Sample {
  readonly value: number;
  /** Only ids and words of this server: never a name, URL or text of a caller. */
  readonly labels?: Readonly<Record<string, string>>;
  /** For histograms only. */
  readonly suffix?: '_bucket' | '_sum' | '_count';
}

/** All values of one metric name, in Prometheus's terms. Names end with their unit: `_seconds`, `_bytes`, `_total`. */
export interface MetricFamily {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly samples: readonly Sample[];
  /**
   * How samples of several processes with the same labels are combined: the largest or the smallest. Default: their
   * sum.
   */
  readonly over?: 'max' | 'min';
}

export const family = (
  type: 'counter' | 'gauge',
  name: string,
  help: string,
  samples: readonly Sample[],
  over?: MetricFamily['over'],
): MetricFamily => ({ name, type, help, samples, ...(over === undefined ? {} : { over }) });

/** A family with one value. */
export const single = (
  type: 'counter' | 'gauge',
  name: string,
  help: string,
  value: number,
  over?: MetricFamily['over'],
): MetricFamily => family(type, name, help, [{ value }], over);
