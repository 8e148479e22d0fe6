import { describe, expect, it } from '@jest/globals';
import { JsonBodyError } from './json-body-error';
import { JsonText } from './json-text';
import { readJson } from './read-json';

describe(readJson.name, () => {
  it('returns the text, the value and the members of a body', () => {
    const scanned = readJson('{ "a": 1.10, "b": [ ] }');
    expect({ ...scanned, members: scanned.members() }).toEqual({
      text: '{"a":1.10,"b":[]}',
      value: { a: 1.1, b: [] },
      members: [
        { key: 'a', keyText: '"a"', valueText: '1.10' },
        { key: 'b', keyText: '"b"', valueText: '[]' },
      ],
    });
  });

  it('refuses a forbidden key before it parses', () => {
    expect(() => readJson('{"__proto__":{}}')).toThrow(JsonBodyError);
  });
});

describe(JsonText.name, () => {
  it('converts to its text', () => {
    expect(String(new JsonText('{"a":1.10}'))).toBe('{"a":1.10}');
  });
});
