import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { IndentedJson } from './indent-json';

function indented(...texts: readonly string[]): string {
  const printer = new IndentedJson();
  return [...texts.flatMap((text) => [...printer.print(text)]), printer.end()].join('');
}

describe(IndentedJson, () => {
  it('prints as JSON.stringify does with two spaces', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(indented(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2));
      }),
    );
  });

  it('keeps digits and escapes', () => {
    expect(indented('{"a":[1.10,-0.0],"b":"\\u00e9\\/{,:","c":{},"d":[]}')).toBe(
      '{\n  "a": [\n    1.10,\n    -0.0\n  ],\n  "b": "\\u00e9\\/{,:",\n  "c": {},\n  "d": []\n}',
    );
  });

  it('S6: prints a text in chunks as it prints the whole text, wherever a chunk ends between two tokens', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const tokens = JSON.stringify(value).match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^"{}[\],:]+/g) ?? [];
        expect(indented(...tokens)).toBe(JSON.stringify(value, null, 2));
      }),
    );
  });

  it('S6: yields a long text in chunks', () => {
    const text = JSON.stringify(Array.from({ length: 100_000 }, (_, n) => n));
    expect(Math.max(...Array.from(new IndentedJson().print(text), ({ length }) => length))).toBeLessThan(40_000);
  });
});
