import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { anyCharacter, anyText } from '../../../test/support/any-text';
import { elementsOf, membersOf, objectText, textOfMembers, withLeadingMembers } from './json-members';

const jsonText = fc.json({ stringUnit: anyCharacter });
const keyText = anyText().map((key) => JSON.stringify(key));

describe(membersOf.name, () => {
  it('finds the key and the value of each member of an object', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(keyText, jsonText.map(compacted))), (members) => {
        const text = `{${members.map(([key, value]) => `${key}:${value}`).join(',')}}`;
        expect(membersOf(text)).toEqual(
          members.map(([key, valueText]) => ({ key: JSON.parse(key) as unknown, keyText: key, valueText })),
        );
      }),
    );
  });

  it('keeps the escapes of keys and values', () => {
    expect(membersOf('{"\\u0061\\"}":"\\\\","b":["\\"]",{"c":"}"}],"":-0.10}')).toEqual([
      { key: 'a"}', keyText: '"\\u0061\\"}"', valueText: '"\\\\"' },
      { key: 'b', keyText: '"b"', valueText: '["\\"]",{"c":"}"}]' },
      { key: '', keyText: '""', valueText: '-0.10' },
    ]);
  });

  it.each(['{}', '[]', '["a"]', '"{"', '1', 'null'])('finds no members in %s', (text) => {
    expect(membersOf(text)).toEqual([]);
  });
});

describe(elementsOf.name, () => {
  it('finds each element of an array', () => {
    fc.assert(
      fc.property(fc.array(jsonText.map(compacted)), (elements) => {
        expect(elementsOf(`[${elements.join(',')}]`)).toEqual(elements);
      }),
    );
  });

  it.each(['[]', '{}', '{"a":[1]}', '"[1]"', '1'])('finds no elements in %s', (text) => {
    expect(elementsOf(text)).toEqual([]);
  });
});

describe(objectText.name, () => {
  it('quotes keys and inserts values unchanged', () => {
    expect(
      objectText([
        ['a"b', '1.10'],
        ['é', '[]'],
      ]),
    ).toBe('{"a\\"b":1.10,"é":[]}');
    expect(objectText([])).toBe('{}');
  });
});

describe(withLeadingMembers.name, () => {
  it('inserts members at the front, replaces members of that name, and keeps every other character', () => {
    const sent = '{"x":1.10,"\\u0069d":"old","name":["\\u00e9"],"meta":{"a":{}}}';
    const leading = [
      ['id', '"p1"'],
      ['meta', '{}'],
    ] as const;
    expect(withLeadingMembers(sent, leading)).toBe('{"id":"p1","meta":{},"x":1.10,"name":["\\u00e9"]}');
    expect(withLeadingMembers('{}', leading)).toBe('{"id":"p1","meta":{}}');
  });
});

describe('textOfMembers', () => {
  it('keeps every character of the members', () => {
    const members = membersOf('{"\\u0061":1,"b":2.0,"c":3}');
    expect(textOfMembers(members.filter(({ key }) => key !== 'c'))).toBe('{"\\u0061":1,"b":2.0}');
    expect(textOfMembers([])).toBe('{}');
  });
});

function compacted(text: string): string {
  return JSON.stringify(JSON.parse(text));
}
