import { describe, expect, it } from '@jest/globals';
import { ProcessMetrics } from './process.metrics';

describe('process_start_time_seconds', () => {
  it('is the same at every scrape, since clients compare counters of one start by it', () => {
    const metrics = new ProcessMetrics();
    const starts = Array.from({ length: 3000 }, () => {
      const [start] = metrics.read().filter(({ name }) => name === 'process_start_time_seconds');
      return start?.samples[0]?.value ?? NaN;
    });
    metrics.onApplicationShutdown();
    expect(new Set(starts).size).toBe(1);
    expect(Math.abs((starts[0] ?? NaN) - (Date.now() / 1000 - process.uptime()))).toBeLessThan(60);
  });
});
