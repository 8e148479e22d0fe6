import { describe, expect, it } from '@jest/globals';
import { acceptedEncoding } from './accepted-encoding';

describe(acceptedEncoding.name, () => {
  it.each([
    [undefined, undefined],
    ['', undefined],
    ['identity', undefined],
    ['gzip', 'gzip'],
    ['x-gzip', 'gzip'],
    ['GZIP;q=0.5', 'gzip'],
    ['gzip, deflate, br', 'br'],
    ['br;q=0, gzip', 'gzip'],
    ['gzip;q=0.0, br;q=0', undefined],
    ['*', 'br'],
    ['*;q=0', undefined],
    ['*, br;q=0', 'gzip'],
  ])('selects for "%s" %s', (header, expected) => {
    expect(acceptedEncoding(header)).toBe(expected);
  });
});
