import { describe, expect, it } from '@jest/globals';
import { type Request } from 'express';
import { bodyOf, mediaTypeOf, queryOf } from './raw-request';

const request = (members: Partial<Request>): Request => ({ headers: {}, url: '/', ...members }) as Request;

describe('a raw request', () => {
  it('returns the bytes of its body, or an empty buffer', () => {
    const body = Buffer.from('{}');
    expect(bodyOf(request({ body }))).toBe(body);
    expect(bodyOf(request({ body: undefined }))).toEqual(Buffer.alloc(0));
    expect(bodyOf(request({ body: {} }))).toEqual(Buffer.alloc(0));
  });

  it('returns the query in order, with repeated names, decoded like a form', () => {
    expect([...queryOf(request({ url: '/Patient?b=1&a=x+y%2Bz&b=2&c&d=a?b=c' }))]).toEqual([
      ['b', '1'],
      ['a', 'x y+z'],
      ['b', '2'],
      ['c', ''],
      ['d', 'a?b=c'],
    ]);
    expect([...queryOf(request({ url: '/Patient' })), ...queryOf(request({ url: '/Patient?' }))]).toEqual([]);
  });

  it.each([
    ['application/json', 'application/json'],
    [' Application/FHIR+JSON ; charset=utf-8', 'application/fhir+json'],
    ['', ''],
    [undefined, undefined],
  ])('returns for the content type %p the media type %p', (contentType, mediaType) => {
    const headers = contentType === undefined ? {} : { 'content-type': contentType };
    expect(mediaTypeOf(request({ headers }))).toBe(mediaType);
  });
});
