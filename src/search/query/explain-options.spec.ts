import { describe, expect, it } from '@jest/globals';
import { explainOptionsOf } from './explain-options';

const read = (text: string): string | undefined => explainOptionsOf(new URLSearchParams({ _explain: text }))?.sql;

describe(explainOptionsOf.name, () => {
  it.each(['', '0', 'false'])('returns no options for %j', (text) => {
    expect(read(text)).toBeUndefined();
  });

  it.each([
    ['1', 'analyze on, buffers on, costs on, timing on'],
    ['true', 'analyze on, buffers on, costs on, timing on'],
    ['analyze', 'analyze on, buffers on, costs on, timing on'],
    ['plan', 'analyze off, buffers off, costs on, timing off'],
    ['no-analyze', 'analyze off, buffers off, costs on, timing off'],
    ['plan,buffers,no-costs', 'analyze off, buffers on, costs off, timing off'],
    ['no-timing,no-buffers', 'analyze on, buffers off, costs on, timing off'],
    ['format-json', 'analyze on, buffers on, costs on, timing on, format json'],
  ])('reads %j as %s', (text, sql) => {
    expect(read(text)).toBe(sql);
  });

  it.each([
    ['2', '"2" is none of'],
    ['analyze,verbose', '"verbose" is none of'],
    ['analyze, buffers', '" buffers" is none of'],
    ['plan,analyze', '"analyze" and its opposite'],
    ['costs,no-costs', '"costs" and its opposite'],
    ['plan,timing', '"timing" needs "analyze"'],
    ['analyze) select 1 --', 'is none of'],
  ])('refuses %j', (text, message) => {
    expect(() => read(text)).toThrow(message);
  });
});
