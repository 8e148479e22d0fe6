import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { indentedJson } from './indent-json';

describe(indentedJson.name, () => {
  it('prints as JSON.stringify does with two spaces', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(indentedJson(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2));
      }),
    );
  });

  it('keeps digits and escapes', () => {
    expect(indentedJson('{"a":[1.10,-0.0],"b":"\\u00e9\\/{,:","c":{},"d":[]}')).toBe(
      '{\n  "a": [\n    1.10,\n    -0.0\n  ],\n  "b": "\\u00e9\\/{,:",\n  "c": {},\n  "d": []\n}',
    );
  });
});
