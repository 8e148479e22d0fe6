import { expect } from '@jest/globals';
import { MetricsServer } from '../../src/platform/metrics/metrics-server';
import { type TestApp } from '../../testing/test-app';

export const metricsUrlOf = ({ app }: TestApp): string =>
  `http://127.0.0.1:${app.get(MetricsServer, { strict: false }).port ?? 0}`;

/** The samples of one scrape. The spec fails if the text is not in format 0.0.4. */
export class Scrape {
  readonly types = new Map<string, string>();
  private readonly values = new Map<string, number>();

  constructor(readonly text: string) {
    expect(text.endsWith('\n')).toBe(true);
    for (const line of text.split('\n').slice(0, -1)) this.read(line);
  }

  /**
   * @param sample name and labels as written in the text
   */
  value(sample: string): number | undefined {
    return this.values.get(sample);
  }

  samplesOf(family: string): [string, number][] {
    return [...this.values].filter(([sample]) => sample.replace(/\{.*/, '') === family);
  }

  private read(line: string): void {
    const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE) ([a-z_]+) (.+)$/.exec(line) ?? [];
    if (keyword === 'HELP') return;
    if (keyword === 'TYPE') {
      expect([name, rest, this.types.has(name)]).toEqual([
        name,
        expect.stringMatching(/^(counter|gauge|histogram)$/),
        false,
      ]);
      this.types.set(name, rest);
      return;
    }
    const [, sample = '', value] =
      /^([a-z_]+(?:\{\w+="[^"\\\n]*"(?:,\w+="[^"\\\n]*")*\})?) (-?[\d.e+-]+|NaN|[+-]Inf)$/.exec(line) ?? [];
    const family = sample.replace(/\{.*/, '');
    const isKnown =
      this.types.has(family) || this.types.get(family.replace(/_(bucket|sum|count)$/, '')) === 'histogram';
    expect({ line, isKnown, isNew: !this.values.has(sample) }).toEqual({ line, isKnown: true, isNew: true });
    this.values.set(sample, Number(value));
  }
}

export async function scrapeOf(url: string, path = '/metrics'): Promise<Scrape> {
  const answer = await fetch(url + path);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
  ]);
  return new Scrape(await answer.text());
}
