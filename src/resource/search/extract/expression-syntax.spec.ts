import { describe, expect, it } from '@jest/globals';
import { parseExpression } from './expression-syntax';

const member = (name: string, of?: object): object =>
  of === undefined ? { kind: 'member', name } : { kind: 'member', of, name };

describe(parseExpression.name, () => {
  it('binds "." before "as" before "|" before "!=" before "and"', () => {
    expect(parseExpression("a.b as T | c != 'x' and d")).toEqual({
      kind: 'binary',
      operator: 'and',
      left: {
        kind: 'binary',
        operator: '!=',
        left: {
          kind: 'binary',
          operator: '|',
          left: { kind: 'binary', operator: 'as', left: member('b', member('a')), right: member('T') },
          right: member('c'),
        },
        right: { kind: 'literal', value: 'x' },
      },
      right: member('d'),
    });
  });

  it('reads calls, indexes and literals', () => {
    expect(parseExpression("a[0].where(b = 'it\\'s').c()")).toEqual({
      kind: 'call',
      of: {
        kind: 'call',
        of: { kind: 'index', of: member('a'), index: 0 },
        name: 'where',
        argument: { kind: 'binary', operator: '=', left: member('b'), right: { kind: 'literal', value: "it's" } },
      },
      name: 'c',
    });
  });

  it.each([
    ['', 'the expression ends too early'],
    ['a.', 'the expression ends too early'],
    ['a b', '"b" is not expected there'],
    ['(a', 'the expression ends too early'],
    ['a.where(b', 'the expression ends too early'],
    ['a[b]', 'an index is a number'],
    ['%context.a', '"%context.a" is not understood'],
    ['a > 5', '"> 5" is not understood'],
    ["'open", '"\'open" is not understood'],
  ])('refuses %j: %s', (text, reason) => {
    expect(() => parseExpression(text)).toThrow(reason);
  });
});
