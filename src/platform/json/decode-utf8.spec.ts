import { describe, expect, it } from '@jest/globals';
import { decodeUtf8 } from './decode-utf8';

describe(decodeUtf8.name, () => {
  it('reads UTF-8 and drops a byte order mark', () => {
    expect(decodeUtf8(Buffer.from('\ufeff{"a":"é😀"}'))).toBe('{"a":"é😀"}');
    expect(decodeUtf8(Buffer.alloc(0))).toBe('');
  });

  it.each([
    ['a stray byte', [0x22, 0xff, 0x22]],
    ['a truncated sequence', [0x22, 0xc3]],
    ['an overlong form', [0xc0, 0x80]],
    ['a surrogate', [0xed, 0xa0, 0xbd]],
    ['UTF-16', [0xff, 0xfe, 0x7b, 0x00]],
  ])('refuses %s', (_, bytes) => {
    expect(() => decodeUtf8(Buffer.from(bytes))).toThrow(
      expect.objectContaining({ details: { code: 'body-malformed' }, message: 'The body is not valid UTF-8' }),
    );
  });
});
