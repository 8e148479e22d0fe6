import { describe, expect, it } from '@jest/globals';
import { invariantDefinitions, searchParameterDefinitions } from '../../fhir/definitions/definitions';
import { parseExpression } from './parse-expression';

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
        arguments: [{ kind: 'binary', operator: '=', left: member('b'), right: { kind: 'literal', value: "it's" } }],
      },
      name: 'c',
      arguments: [],
    });
  });

  it.each([
    ['%resource.type', member('type', { kind: 'variable', name: 'resource' })],
    ["%'ext-x'", { kind: 'variable', name: 'ext-x' }],
    ['`div`.contains', member('contains', member('div'))],
    ['{} // nothing', { kind: 'empty' }],
    ["'\\u00e4\\n\\/'", { kind: 'literal', value: 'ä\n/' }],
    ['1.50', { kind: 'literal', value: 1.5, isDecimal: true }],
    ['-1', { kind: 'literal', value: -1 }],
    ['-a', { kind: 'foreign', what: 'a sign', parts: [member('a')] }],
    ['@2020-01', { kind: 'foreign', what: 'a date or time', parts: [] }],
    ["4 'kg'", { kind: 'foreign', what: 'a quantity', parts: [] }],
    ['3 days', { kind: 'foreign', what: 'a quantity', parts: [] }],
    ['$index', { kind: 'foreign', what: '$index', parts: [] }],
    ['a[b]', { kind: 'foreign', what: 'a computed index', parts: [member('a'), member('b')] }],
    ['$this', { kind: 'this' }],
    ['iif(a, b, c)', { kind: 'call', name: 'iif', arguments: [member('a'), member('b'), member('c')] }],
    [
      'a is FHIR.code implies b',
      {
        kind: 'binary',
        operator: 'implies',
        left: { kind: 'binary', operator: 'is', left: member('a'), right: member('code', member('FHIR')) },
        right: member('b'),
      },
    ],
  ])('reads %s', (text, tree) => {
    expect(parseExpression(text)).toEqual(tree);
  });

  it('reads every expression of HL7', () => {
    const expressions = [
      ...searchParameterDefinitions().flatMap(({ expression = 'id', component = [] }) => [
        expression,
        ...component.map((part) => part.expression),
      ]),
      ...invariantDefinitions().map(({ expression }) => expression),
    ];
    expect(() => expressions.map(parseExpression)).not.toThrow();
  });

  it.each([
    ['brackets', `${'('.repeat(400)}a${')'.repeat(400)}`],
    ['steps', `a${'.a'.repeat(400)}`],
    ['operators', `a${' or a'.repeat(400)}`],
    ['calls', `${'a.where('.repeat(200)}a${')'.repeat(200)}`],
    ['tokens', `a(${'a,'.repeat(20_000)}a)`],
  ])('refuses unbounded %s', (_what, text) => {
    expect(() => parseExpression(text)).toThrow(/too (deep|long)/);
  });

  it.each([
    ['', 'the expression ends too early'],
    ['a.', 'the expression ends too early'],
    ['a b', '"b" is not expected there'],
    ['(a', 'the expression ends too early'],
    ['a.where(b', 'the expression ends too early'],
    ['a and and', '"and" is not expected there'],
    ['@20', '"@20" is not understood'],
    ["4 'kg' 5", '"5" is not expected there'],
    ['a as (b.c)', 'a type name is expected after "is" and "as"'],
    ['{a}', '"a" is not expected there'],
    ["'open", '"\'open" is not understood'],
  ])('refuses %j: %s', (text, reason) => {
    expect(() => parseExpression(text)).toThrow(reason);
  });
});
