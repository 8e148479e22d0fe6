import { describe, expect, it } from '@jest/globals';
import { family, type MetricFamily } from '../metrics/metric-family';
import { ProcessMetrics } from '../metrics/process.metrics';
import { lasting, summed } from './summed';

const ofTwo = (over: MetricFamily['over'], ...values: [number, number]): unknown => {
  const [one, other] = values.map((value) => [family('gauge', 'g', '', [{ value, labels: { of: 'a' } }], over)]);
  return summed([one ?? [], other ?? []]).map(({ samples }) => samples);
};

describe('metrics of several processes', () => {
  it('are summed, or their largest or smallest value is taken', () => {
    expect(ofTwo(undefined, 1, 2)).toEqual([[{ value: 3, labels: { of: 'a' } }]]);
    expect(ofTwo('max', 1, 2)).toEqual([[{ value: 2, labels: { of: 'a' } }]]);
    expect(ofTwo('min', 1, 2)).toEqual([[{ value: 1, labels: { of: 'a' } }]]);
  });

  it('stay separate by family, suffix and labels', () => {
    const samples = [
      { value: 1, suffix: '_sum' as const },
      { value: 1, suffix: '_count' as const },
      { value: 1, labels: { of: 'a' } },
    ];
    const families = [family('counter', 'one', '', samples), family('counter', 'other', '', samples)];
    expect(summed([families, []])).toEqual(families);
  });

  it('use the process with the fullest heap, so that idle processes do not hide it', () => {
    const metrics = new ProcessMetrics();
    const [full, idle] = [0.95, 0.05].map((part) =>
      metrics.read().map((one): MetricFamily => {
        const value = { nodejs_heap_size_used_bytes: 1000 * part, svc_heap_limit_bytes: 1000 }[one.name];
        return value === undefined ? one : { ...one, samples: [{ value }] };
      }),
    );
    metrics.onApplicationShutdown();
    const families = summed([idle ?? [], full ?? [], idle ?? []]);
    const valueOf = (name: string): number => families.find((one) => one.name === name)?.samples[0]?.value ?? NaN;
    expect(valueOf('nodejs_heap_size_used_bytes') / valueOf('svc_heap_limit_bytes')).toBe(0.95);
  });

  it('keep only the counters of a process that has exited', () => {
    const counter = family('counter', 'c', '', []);
    expect(lasting([family('gauge', 'g', '', []), counter])).toEqual([counter]);
  });
});
