import { beforeEach, describe, expect, it } from '@jest/globals';
import { ProgressBar } from './progress-bar';

describe(ProgressBar, () => {
  let nowMs: number;
  let written: string[];

  beforeEach(() => {
    nowMs = 0;
    written = [];
  });

  it('writes a line every 10 % without a terminal', () => {
    advance(barOf(200, false), 200, 10);
    expect(written).toHaveLength(10);
    expect(written[4]).toBe('load [############------------]  50 %  100/200  100/s  1.0 s left\n');
    expect(written[9]).toBe('load [########################] 100 %  200/200  100/s  2.0 s\n');
  });

  it('writes a line every minute of a long job without a terminal', () => {
    advance(barOf(10_000, false), 300, 1000);
    expect(written).toHaveLength(5);
    expect(written[0]).toBe('load [------------------------]   0 %  60/10000  1/s  9940.0 s left\n');
  });

  it('writes no line twice when the steps are larger than 10 %', () => {
    advance(barOf(3, false), 3, 1000);
    expect(written.map((line) => line.slice(32, 37))).toEqual([' 33 %', ' 66 %', '100 %']);
  });

  it('computes the rate without the work of an earlier call', () => {
    const output = { write: (text: string) => written.push(text) };
    const bar = new ProgressBar({ label: 'load', total: 200, done: 80, output, nowMs: () => nowMs });
    advance(bar, 20, 100);
    expect(written).toEqual(['load [############------------]  50 %  100/200  10/s  10.0 s left\n']);
  });

  it('redraws one line on a terminal, at most ten times a second, and ends it', () => {
    advance(barOf(200, true), 200, 10);
    expect(written).toHaveLength(21);
    expect(written.filter((text) => !text.startsWith('\r'))).toEqual([]);
    expect(written.filter((text) => text.endsWith('\n'))).toEqual(written.slice(-1));
  });

  function barOf(total: number, isTTY: boolean): ProgressBar {
    const output = { isTTY, write: (text: string) => written.push(text) };
    return new ProgressBar({ label: 'load', total, output, nowMs: () => nowMs });
  }

  function advance(bar: ProgressBar, times: number, stepMs: number): void {
    for (let step = 0; step < times; step += 1) {
      nowMs += stepMs;
      bar.advance();
    }
  }
});
