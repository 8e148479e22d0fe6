import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { anyText } from '../../../test/support/any-text';
import { load } from 'js-yaml';
import { JsonBodyError } from '../json/json-body-error';
import { compactJson } from '../json/compact-json';
import { YamlOfJson } from './print-yaml';
import { jsonOfYaml } from './read-yaml';

const text = fc.oneof(
  anyText(),
  fc.string(),
  fc.constantFrom(
    'yes',
    'No',
    'null',
    '~',
    '',
    '1.10',
    '0x1F',
    '2020-01-01',
    '- a',
    'a: b',
    'a #b',
    ' a',
    'a ',
    'a\nb',
    '<<',
    '\u0085',
    '\ufeff',
    '\u2028x',
    'a:',
    ':a',
    'http://x/y:z',
    '1e5',
    '.inf',
    'é',
    '"',
    "'",
    '\\',
    '---',
    '...',
    '%a',
    '@',
    '`',
    '!a',
    '&a',
    '*a',
    '|',
    '>',
    '\t',
    'a\tb',
  ),
);
const tree = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.boolean(),
    fc.constant(null),
    fc.double({ noDefaultInfinity: true, noNaN: true }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(text, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value;

const isStorable = (json: string): boolean => !/\\u0000|\\ud[89a-f]/i.test(json);

describe('YAML that the server prints', () => {
  it('converts back to the same JSON text, for any values', () => {
    fc.assert(
      fc.property(tree, (value) => {
        const json = JSON.stringify(value);
        fc.pre(isStorable(json));
        expect(jsonOfYaml(yamlOf(json))).toBe(json);
      }),
      { numRuns: 500 },
    );
  });

  it('is read by js-yaml as the same values', () => {
    fc.assert(
      fc.property(tree, (value) => {
        const json = JSON.stringify(value);
        fc.pre(isStorable(json) && !json.includes('"__proto__"'));
        expect(load(yamlOf(json))).toEqual(JSON.parse(json));
      }),
      { numRuns: 500 },
    );
  });
});

function yamlOf(...texts: readonly string[]): string {
  const printer = new YamlOfJson();
  return [...texts.flatMap((text) => [...printer.print(text)]), printer.end()].join('');
}

describe(YamlOfJson, () => {
  it('S6: prints a text in chunks as it prints the whole text, wherever a chunk ends between two tokens', () => {
    fc.assert(
      fc.property(tree, (value) => {
        const json = JSON.stringify(value);
        const tokens = json.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^"{}[\],:]+/g) ?? [];
        expect(yamlOf(...tokens)).toBe(yamlOf(json));
      }),
    );
  });

  it('prints blocks, keeps digits, and quotes ambiguous scalars', () => {
    const json =
      '{"resourceType":"Patient","active":true,"value":1.10,"code":"1.10","flag":"yes","url":"http://x.example/a:b",' +
      '"name":[{"family":"Rivera Lind","given":["Ana","B: c"]},{}],"empty":[],"none":null,"smile":"\\ud83d\\ude00"}';
    expect(yamlOf(json)).toBe(`resourceType: Patient
active: true
value: 1.10
code: "1.10"
flag: "yes"
url: http://x.example/a:b
name:
  - family: Rivera Lind
    given:
      - Ana
      - "B: c"
  - {}
empty: []
none: null
smile: "😀"
`);
  });

  it('prints keys of any length', () => {
    const json = JSON.stringify({ ['k'.repeat(5000)]: { a: [1] }, b: 2 });
    expect(jsonOfYaml(yamlOf(json))).toBe(json);
  });
});

describe(jsonOfYaml.name, () => {
  it('keeps digits, and reads scalars as YAML 1.2 does', () => {
    expect(jsonOfYaml('a: 1.10\nb: "1.10"\nc: yes\nd: 2020-01-01\ne:\nf: [True, ~, 1E5]\n7: |\n  x\n  y\n')).toBe(
      '{"a":1.10,"b":"1.10","c":"yes","d":"2020-01-01","e":null,"f":[true,null,1E5],"7":"x\\ny\\n"}',
    );
  });

  it.each([
    ['aliases', 'a: &x [1]\nb: [*x, *x]'],
    ['an alias alone', 'a: *x'],
    ['tags', 'a: !!binary aGk='],
    ['two documents', 'a: 1\n---\nb: 2'],
    ['hexadecimal numbers', 'a: 0x1F'],
    ['infinity', 'a: .inf'],
    ['collections as keys', '? [a]\n: 1'],
    ['a syntax error', 'a: [1'],
    ['depth', '['.repeat(100_000)],
  ])('refuses %s', (_name, yaml) => {
    expect(() => jsonOfYaml(yaml)).toThrow(JsonBodyError);
  });

  it('leaves duplicate keys to the JSON scanner', () => {
    expect(() => compactJson(jsonOfYaml('a: 1\n"a": 2'))).toThrow(/Duplicate key/);
  });

  it('reports line and column without the text', () => {
    expect(() => jsonOfYaml('name: Rivera\nsecret: "unclosed')).toThrow(/^Malformed YAML \(line \d+, column \d+\)$/);
  });
});
