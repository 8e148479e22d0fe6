/** One value of a family. */
export interface Sample {
  readonly value: number;
  /** Ids and words of ours only: never a name, a URL or a text of a caller. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Histograms only. */
  readonly suffix?: '_bucket' | '_sum' | '_count';
}

/**
 * All values of one name, as Prometheus knows them. Units stand at the end of names: `_seconds`, `_bytes`, `_total`.
 */
export interface MetricFamily {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly samples: readonly Sample[];
  /**
   * Of the samples that the processes of a start have for the same labels: the largest or the least. Default: their
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

/** A family of one value. */
export const single = (
  type: 'counter' | 'gauge',
  name: string,
  help: string,
  value: number,
  over?: MetricFamily['over'],
): MetricFamily => family(type, name, help, [{ value }], over);
