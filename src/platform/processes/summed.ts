import { type MetricFamily, type Sample } from '../metrics/metric-family';

/**
 * Combines the metric families of several processes. The values of samples with the same labels are added, or the
 * largest or smallest is taken.
 */
export function summed(processes: Iterable<readonly MetricFamily[]>): MetricFamily[] {
  const families = new Map<string, { readonly family: MetricFamily; readonly samples: Map<string, Sample> }>();
  for (const family of [...processes].flat()) {
    const { samples } = families.get(family.name) ?? { samples: new Map<string, Sample>() };
    families.set(family.name, { family, samples });
    for (const sample of family.samples) {
      const key = JSON.stringify([sample.suffix, sample.labels]);
      const known = samples.get(key);
      samples.set(
        key,
        known === undefined ? sample : { ...sample, value: ONE[family.over ?? 'sum'](known.value, sample.value) },
      );
    }
  }
  return [...families.values()].map(({ family, samples }) => ({ ...family, samples: [...samples.values()] }));
}

const ONE = {
  sum: (one: number, other: number) => one + other,
  max: Math.max,
  min: Math.min,
};

/** Families that stay in the sums when their process has ended: all except gauges, so counters never decrease. */
export const lasting = (families: readonly MetricFamily[]): readonly MetricFamily[] =>
  families.filter(({ type }) => type !== 'gauge');
