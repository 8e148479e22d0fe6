import { validateHeaderName, validateHeaderValue } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { anyText } from '../../../test/support/any-text';
import { parseHeaderLine } from './header-line';

describe(parseHeaderLine.name, () => {
  it('splits at the first colon', () => {
    expect(parseHeaderLine('Authorization: Basic a:b:c')).toEqual({ name: 'Authorization', value: 'Basic a:b:c' });
  });

  it('trims white space around the value and keeps it inside', () => {
    expect(parseHeaderLine('X-A:\t one  two \t')).toEqual({ name: 'X-A', value: 'one  two' });
  });

  it('accepts an empty value', () => {
    expect(parseHeaderLine('X-Empty:')).toEqual({ name: 'X-Empty', value: '' });
  });

  it.each([
    ['no colon', 'Authorization Bearer x'],
    ['no name', ': x'],
    ['a space before the colon', 'X-A : x'],
    ['a space before the name', ' X-A: x'],
    ['a line break in the value', 'X-A: x\r\nHost: evil'],
    ['a line break in the name', 'X\r\n-A: x'],
    ['a NUL', 'X-A: \0'],
    ['a character outside of ASCII', 'X-A: ä'],
  ])('refuses %s', (_what, line) => {
    expect(parseHeaderLine(line)).toEqual(expect.any(String));
  });

  it.each([
    'Host',
    'content-length',
    'Transfer-Encoding',
    'connection',
    'Keep-Alive',
    'upgrade',
    'TE',
    'Trailer',
    'Expect',
    'Proxy-Authorization',
    'webhook-id',
    'Webhook-Signature',
  ])('refuses %s, which the server sets', (name) => {
    expect(parseHeaderLine(`${name}: x`)).toContain('writes itself');
  });

  it('returns a message without the value', () => {
    fc.assert(
      fc.property(fc.constantFrom('no colon ', 'Bad Name: ', 'Host: ', 'X: \n'), (start) => {
        expect(parseHeaderLine(`${start}geheim`)).not.toContain('geheim');
      }),
    );
  });

  it('accepts nothing that Node refuses to send', () => {
    const anything = fc.oneof(anyText(), fc.string());
    const line = fc.oneof(
      anything,
      fc.tuple(fc.stringMatching(/^[\x20-\x7e]{1,12}$/), anything).map(([name, value]) => `${name}:${value}`),
    );
    fc.assert(
      fc.property(line, (text) => {
        const parsed = parseHeaderLine(text);
        if (typeof parsed === 'string') return;
        validateHeaderName(parsed.name);
        validateHeaderValue(parsed.name, parsed.value);
      }),
      { numRuns: 5000 },
    );
  });
});
