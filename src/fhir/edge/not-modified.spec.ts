import { describe, expect, it } from '@jest/globals';
import { isNotModified } from './not-modified';

const VERSION = { ETag: 'W/"2"', 'Last-Modified': 'Fri, 20 Nov 2026 10:00:00 GMT' };

describe(isNotModified.name, () => {
  it.each([
    ['W/"2"', true],
    ['"2"', true],
    ['2', true],
    ['W/"1", W/"2"', true],
    ['*', true],
    ['W/"1"', false],
    ['W/"22"', false],
    ['nonsense', false],
    ['', false],
  ])('returns for If-None-Match %s: %s', (tags, expected) => {
    expect(isNotModified({ 'if-none-match': tags }, VERSION)).toBe(expected);
  });

  it.each([
    ['Fri, 20 Nov 2026 10:00:00 GMT', true],
    ['Fri, 20 Nov 2026 10:00:01 GMT', true],
    ['Fri, 20 Nov 2026 09:59:59 GMT', false],
    ['yesterday', false],
  ])('returns for If-Modified-Since %s: %s', (since, expected) => {
    expect(isNotModified({ 'if-modified-since': since }, VERSION)).toBe(expected);
  });

  it('ignores If-Modified-Since if If-None-Match is sent', () => {
    const headers = { 'if-none-match': 'W/"1"', 'if-modified-since': 'Fri, 20 Nov 2026 10:00:00 GMT' };
    expect(isNotModified(headers, VERSION)).toBe(false);
  });

  it('returns false for a request without conditions', () => {
    expect(isNotModified({}, VERSION)).toBe(false);
  });
});
