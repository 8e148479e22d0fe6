/** One value of a metric family. */
export interface Sample {
  readonly value: number;
  /** Labels with ids and words of this server. They never contain a name, URL or text of a caller. */
  readonly labels?: Readonly<Record<string, string>>;
  /** The end of the sample's name; only for histograms. */
  readonly suffix?: '_bucket' | '_sum' | '_count';
}

/**
 * A metric family (Prometheus's term): all values with the same metric name. The name ends with its unit: `_seconds`,
 * `_bytes`, `_total`.
 */
export interface MetricFamily {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly samples: readonly Sample[];
  /**
   * How the samples of several processes with the same labels are combined: by the largest or the smallest value.
   * Default: by their sum.
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

export const single = (
  type: 'counter' | 'gauge',
  name: string,
  help: string,
  value: number,
  over?: MetricFamily['over'],
): MetricFamily => family(type, name, help, [{ value }], over);
