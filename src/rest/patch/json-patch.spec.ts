import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isLosslessNumber, parse, stringify } from 'lossless-json';
import { jsonText } from '../../../test/support/json-text';
import { canonicalText, parseLossless, printLossless } from '../../../test/support/lossless-text';
import { ServiceError } from '../../platform/errors/service-error';
import { atOnce } from '../../platform/time/steps';
import { compileJsonPatch } from './json-patch';

const patched = (original: string, patch: string): string =>
  printLossless(atOnce(atOnce(compileJsonPatch(parseLossless(patch)))(parseLossless(original))));

/** The kind of the error, or the patched text. */
function outcome(original: string, patch: string): string {
  try {
    return patched(original, patch);
  } catch (error) {
    return error instanceof ServiceError ? error.kind : `unexpected: ${String(error)}`;
  }
}

describe(compileJsonPatch.name, () => {
  it('moves a member to a path with the same first 300 characters', () => {
    const [one, other] = [`${'x'.repeat(300)}1`, `${'x'.repeat(300)}2`];
    const move = `[{"op":"move","from":"/${one}","path":"/${other}"}]`;
    expect(patched(`{"${one}":1}`, move)).toBe(`{"${other}":1}`);
  });

  // Cases of RFC 6902, appendix A. A.13 has duplicate keys, which the scan of bodies refuses.
  it.each([
    ['A.1', '{"foo":"bar"}', '[{"op":"add","path":"/baz","value":"qux"}]', '{"foo":"bar","baz":"qux"}'],
    ['A.2', '{"foo":["bar","baz"]}', '[{"op":"add","path":"/foo/1","value":"qux"}]', '{"foo":["bar","qux","baz"]}'],
    ['A.3', '{"baz":"qux","foo":"bar"}', '[{"op":"remove","path":"/baz"}]', '{"foo":"bar"}'],
    ['A.4', '{"foo":["bar","qux","baz"]}', '[{"op":"remove","path":"/foo/1"}]', '{"foo":["bar","baz"]}'],
    ['A.5', '{"baz":"qux","foo":"bar"}', '[{"op":"replace","path":"/baz","value":"boo"}]', '{"baz":"boo","foo":"bar"}'],
    [
      'A.6',
      '{"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}}',
      '[{"op":"move","from":"/foo/waldo","path":"/qux/thud"}]',
      '{"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}}',
    ],
    [
      'A.7',
      '{"foo":["all","grass","cows","eat"]}',
      '[{"op":"move","from":"/foo/1","path":"/foo/3"}]',
      '{"foo":["all","cows","eat","grass"]}',
    ],
    [
      'A.8',
      '{"baz":"qux","foo":["a",2,"c"]}',
      '[{"op":"test","path":"/baz","value":"qux"},{"op":"test","path":"/foo/1","value":2}]',
      '{"baz":"qux","foo":["a",2,"c"]}',
    ],
    ['A.9', '{"baz":"qux"}', '[{"op":"test","path":"/baz","value":"bar"}]', 'unprocessable'],
    [
      'A.10',
      '{"foo":"bar"}',
      '[{"op":"add","path":"/child","value":{"grandchild":{}}}]',
      '{"foo":"bar","child":{"grandchild":{}}}',
    ],
    ['A.11', '{"foo":"bar"}', '[{"op":"add","path":"/baz","value":"qux","xyz":123}]', '{"foo":"bar","baz":"qux"}'],
    ['A.12', '{"foo":"bar"}', '[{"op":"add","path":"/baz/bat","value":"qux"}]', 'unprocessable'],
    ['A.14', '{"/":9,"~1":10}', '[{"op":"test","path":"/~01","value":10}]', '{"/":9,"~1":10}'],
    ['A.15', '{"/":9,"~1":10}', '[{"op":"test","path":"/~01","value":"10"}]', 'unprocessable'],
    [
      'A.16',
      '{"foo":["bar"]}',
      '[{"op":"add","path":"/foo/-","value":["abc","def"]}]',
      '{"foo":["bar",["abc","def"]]}',
    ],
  ])('returns the result of case %s of RFC 6902', (_name, original, patch, result) => {
    expect(outcome(original, patch)).toBe(result);
  });

  it.each([
    ['replaces the whole document', '{"a":1}', '[{"op":"replace","path":"","value":{"b":2}}]', '{"b":2}'],
    ['replaces an existing member by add', '{"a":1,"b":2}', '[{"op":"add","path":"/a","value":3}]', '{"a":3,"b":2}'],
    [
      'copies a value that later operations change independently',
      '{"a":{"x":1}}',
      '[{"op":"copy","from":"/a","path":"/b"},{"op":"remove","path":"/b/x"}]',
      '{"a":{"x":1},"b":{}}',
    ],
    ['moves a member to its own path', '{"a":1,"b":2}', '[{"op":"move","from":"/a","path":"/a"}]', '{"a":1,"b":2}'],
    [
      'moves an element within its array',
      '{"a":[1,2,3]}',
      '[{"op":"move","from":"/a/0","path":"/a/2"}]',
      '{"a":[2,3,1]}',
    ],
    ['accepts the empty key', '{"":{"":1}}', '[{"op":"replace","path":"//","value":2}]', '{"":{"":2}}'],
    ['accepts digits as a key of an object', '{"a":{"01":1}}', '[{"op":"remove","path":"/a/01"}]', '{"a":{}}'],
    [
      'keeps digits',
      '{"a":1.10,"b":[2.50]}',
      '[{"op":"add","path":"/b/0","value":3.00},{"op":"copy","from":"/a","path":"/c"}]',
      '{"a":1.10,"b":[3.00,2.50],"c":1.10}',
    ],
  ])('%s', (_fact, original, patch, result) => {
    expect(outcome(original, patch)).toBe(result);
  });

  it.each([
    ['1.10', '1.1'],
    ['1', '1.0'],
    ['100', '1e2'],
    ['0.001', '1E-3'],
    ['0', '-0.00'],
    ['12345678901234567890', '1.2345678901234567890e19'],
    ['{"a":[1.0,{"b":2}]}', '{"a":[1,{"b":2.0}]}'],
    ['{"a":1,"b":2}', '{"b":2,"a":1}'],
    ['"\\u00e9"', '"é"'],
  ])('considers %s and %s equal in a test', (stored, value) => {
    const original = `{"a":${stored}}`;
    expect(outcome(original, `[{"op":"test","path":"/a","value":${value}}]`)).toBe(
      printLossless(parseLossless(original)),
    );
  });

  it.each([
    ['1', '"1"'],
    ['0', 'false'],
    ['null', '0'],
    ['12345678901234567890', '12345678901234567891'],
    ['1', '-1'],
    ['[1,2]', '[2,1]'],
    ['[1]', '[1,2]'],
    ['{"a":1}', '{"a":1,"b":null}'],
    ['{"a":null}', '{"b":null}'],
    ['{}', '[]'],
  ])('considers %s and %s different in a test', (stored, value) => {
    expect(outcome(`{"a":${stored}}`, `[{"op":"test","path":"/a","value":${value}}]`)).toBe('unprocessable');
  });

  it.each([
    ['an object', '{"op":"add","path":"/a","value":1}'],
    ['a number in place of an operation', '[1]'],
    ['an unknown operation', '[{"op":"increment","path":"/a","value":1}]'],
    ['an operation without a name', '[{"path":"/a"}]'],
    ['an operation without a path', '[{"op":"remove"}]'],
    ['a path that is no text', '[{"op":"remove","path":1}]'],
    ['an operation without a value', '[{"op":"add","path":"/a"}]'],
    ['a move without a source', '[{"op":"move","path":"/a"}]'],
    ['a path without a leading slash', '[{"op":"remove","path":"a"}]'],
    ['a lone tilde', '[{"op":"remove","path":"/a~"}]'],
    ['an invalid escape', '[{"op":"remove","path":"/a~2"}]'],
  ])('refuses %s as malformed', (_case, patch) => {
    expect(outcome('{"a":1}', patch)).toBe('invalid');
  });

  it.each([
    ['a leading zero', '[{"op":"remove","path":"/a/00"}]'],
    ['a sign', '[{"op":"remove","path":"/a/-1"}]'],
    ['an exponent', '[{"op":"remove","path":"/a/1e0"}]'],
    ['a huge index', '[{"op":"add","path":"/a/99999999999999999999","value":1}]'],
    ['an index beyond the end', '[{"op":"add","path":"/a/4","value":1}]'],
    ['a removal beyond the end', '[{"op":"remove","path":"/a/3"}]'],
    ['a removal at the end mark', '[{"op":"remove","path":"/a/-"}]'],
    ['length', '[{"op":"test","path":"/a/length","value":3}]'],
    ['__proto__', '[{"op":"add","path":"/__proto__/polluted","value":true}]'],
    ['constructor', '[{"op":"add","path":"/constructor/prototype/polluted","value":true}]'],
    ['a scalar as parent', '[{"op":"add","path":"/b/c","value":1}]'],
    ['the removal of the whole document', '[{"op":"remove","path":""}]'],
    ['a move into itself', '[{"op":"move","from":"/c","path":"/c/d"}]'],
    ['the replacement of a missing member', '[{"op":"replace","path":"/x","value":1}]'],
    ['a copy of a missing member', '[{"op":"copy","from":"/x","path":"/y"}]'],
  ])('refuses %s as not applicable', (_case, patch) => {
    expect(outcome('{"a":[1,2,3],"b":"x","c":{}}', patch)).toBe('unprocessable');
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  it('refuses to nest deeper than the limit of bodies', () => {
    const steps = Array.from({ length: 80 }, () => '{"op":"copy","from":"","path":"/a"}').join(',');
    expect(outcome('{"a":1}', `[${steps}]`)).toBe('unprocessable');
  });

  it('limits the growth by copies', () => {
    const double = Array.from({ length: 40 }, (_, n) => `{"op":"copy","from":"/a","path":"/a/${n % 2}"}`);
    expect(outcome('{"a":[[1,1,1,1],[2]]}', `[${double.join(',')}]`)).toBe('unprocessable');
    const long = `{"a":"${'x'.repeat(1_000_000)}"}`;
    const copies = Array.from({ length: 20 }, (_, n) => `{"op":"copy","from":"/a","path":"/b${n}"}`);
    expect(outcome(long, `[${copies.join(',')}]`)).toBe('unprocessable');
  });

  it('S23: pauses while it compiles', () => {
    const operations = Array.from({ length: 20_000 }, (_, n) => `{"op":"add","path":"/a${n}","value":1}`);
    expect([...compileJsonPatch(parseLossless(`[${operations.join(',')}]`))].length).toBeGreaterThan(50);
  });

  it('compiles a patch that can be applied several times', () => {
    const patch = atOnce(
      compileJsonPatch(
        parseLossless('[{"op":"add","path":"/a","value":{"b":[]}},{"op":"add","path":"/a/b/-","value":1}]'),
      ),
    );
    expect([1, 2].map(() => printLossless(atOnce(patch(parseLossless('{}')))))).toEqual([
      '{"a":{"b":[1]}}',
      '{"a":{"b":[1]}}',
    ]);
  });

  it('returns the same result as a simple model of RFC 6902, including digits', () => {
    const step = fc.constantFrom('a', 'b', 'c', 'a~1b', '~0', '', '0', '1', '-', '01');
    const pointer = fc.array(step, { maxLength: 3 }).map((steps) => steps.map((one) => `/${one}`).join(''));
    const operation = fc.oneof(
      fc
        .tuple(fc.constantFrom('add', 'replace', 'test'), pointer, jsonText)
        .map(([op, path, value]) => `{"op":"${op}","path":"${path}","value":${value}}`),
      pointer.map((path) => `{"op":"remove","path":"${path}"}`),
      fc
        .tuple(fc.constantFrom('move', 'copy'), pointer, pointer)
        .map(([op, from, path]) => `{"op":"${op}","from":"${from}","path":"${path}"}`),
    );
    let applied = 0;
    fc.assert(
      fc.property(jsonText, fc.array(operation, { minLength: 1, maxLength: 3 }), (original, operations) => {
        const patch = `[${operations.join(',')}]`;
        const result = outcome(original, patch);
        // Compares without the order of members: plain objects put keys like "1" first. The cases above cover the
        // order.
        expect(inOrder(result)).toBe(inOrder(modelled(original, patch)));
        if (result !== 'unprocessable') applied++;
      }),
      { numRuns: 3000 },
    );
    expect(applied).toBeGreaterThan(100);
  });
});

const inOrder = (result: string): string =>
  result === 'unprocessable' ? result : canonicalText(parseLossless(result));

/** A literal model of RFC 6902 on plain objects that keep digits. It does not use the code under test. */
function modelled(original: string, patch: string): string {
  let root: unknown = parse(original);
  const refuse = (): never => {
    throw new RangeError('unprocessable');
  };
  const steps = (path: string): string[] =>
    path
      .split('/')
      .slice(1)
      .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  const isPlain = (value: unknown): value is Record<string, unknown> =>
    typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumber(value);
  const isIndex = (step: string): boolean => step === '0' || /^[1-9][0-9]*$/.test(step);
  const get = (path: string[]): unknown =>
    path.reduce<unknown>((value, step) => {
      if (Array.isArray(value))
        return isIndex(step) && Number(step) < value.length ? (value[Number(step)] as unknown) : refuse();
      return isPlain(value) && Object.hasOwn(value, step) ? value[step] : refuse();
    }, root);
  const remove = (path: string[]): void => {
    get(path);
    const last = path.at(-1) ?? refuse();
    const parent = get(path.slice(0, -1));
    if (Array.isArray(parent)) parent.splice(Number(last), 1);
    else Reflect.deleteProperty(parent as object, last);
  };
  const add = (path: string[], value: unknown): void => {
    const last = path.at(-1);
    if (last === undefined) {
      root = value;
      return;
    }
    const parent = get(path.slice(0, -1));
    if (Array.isArray(parent)) {
      const index = last === '-' ? parent.length : isIndex(last) ? Number(last) : refuse();
      if (index > parent.length) refuse();
      parent.splice(index, 0, value);
    } else if (isPlain(parent)) parent[last] = value;
    else refuse();
  };
  const clone = (value: unknown): unknown => parse(stringify(value) ?? 'null');
  const normal = (value: unknown): unknown => {
    if (isLosslessNumber(value))
      return Number(value.toString()) + 0 === 0 ? 0 : BigInt(Math.round(Number(value.toString()) * 1e6)).toString();
    if (Array.isArray(value)) return value.map(normal);
    if (!isPlain(value)) return value;
    return Object.fromEntries(
      Object.entries(value)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([k, v]) => [k, normal(v)]),
    );
  };
  try {
    for (const { op, path, from, value } of parse(patch) as {
      op: string;
      path: string;
      from: string;
      value: unknown;
    }[]) {
      const to = steps(path);
      if (op === 'add') add(to, clone(value));
      else if (op === 'remove') remove(to);
      else if (op === 'replace') {
        get(to);
        if (to.length === 0) root = clone(value);
        else {
          const parent = get(to.slice(0, -1)) as Record<string, unknown>;
          parent[to.at(-1) ?? ''] = clone(value);
        }
      } else if (op === 'test') {
        if (JSON.stringify(normal(get(to))) !== JSON.stringify(normal(value))) refuse();
      } else {
        const found = clone(get(steps(from)));
        if (op === 'move') {
          if (path !== from && path.startsWith(`${from}/`)) refuse();
          if (path === from) continue;
          remove(steps(from));
        }
        add(to, found);
      }
    }
    return stringify(root) ?? '';
  } catch (error) {
    if (error instanceof RangeError) return 'unprocessable';
    throw error;
  }
}
