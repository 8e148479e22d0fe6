import { describe, expect, it } from '@jest/globals';
import { decisionIdIn, refusedReadIn, resourceIn, typedRequest } from './typed-request';

describe(typedRequest, () => {
  it.each([
    ['/fhir/Patient/p7', 'GET', '/fhir/Patient/p7'],
    ['Patient/p7?_format=json', 'GET', '/Patient/p7?_format=json'],
    ['put  /fhir/Patient/p7', 'PUT', '/fhir/Patient/p7'],
    ['DELETE https://h.example:8443/fhir/Patient/p7#x', 'DELETE', '/fhir/Patient/p7'],
    ['https://h.example?name=a b', 'GET', '/?name=a b'],
    ['  /Patient?name=Ana Rivera ', 'GET', '/Patient?name=Ana Rivera'],
    ['GET', 'GET', '/'],
    ['', 'GET', '/'],
  ])('reads %j as %s %s', (text, method, uri) => {
    expect(typedRequest(text, 'GET')).toEqual({ method, uri });
  });
});

describe(decisionIdIn, () => {
  const id = '0f8fad5b-d9cb-469f-a165-70867728950e';

  it.each([
    id,
    ` ${id.toUpperCase()} `,
    `No AccessPolicy grants this request. Why: GET /auth/decisions/${id}`,
    `request 11111111-2222-3333-4444-555555555555: {"diagnostics": "Why: GET /auth/decisions/${id}"}`,
  ])('finds the id in %j', (text) => {
    expect(decisionIdIn(text)).toBe(id);
  });

  it('finds no id in other texts', () => {
    expect(decisionIdIn('Patient/p7')).toBeUndefined();
  });
});

describe(refusedReadIn, () => {
  it.each([
    ['Resource Patient/p7 is not stored.', 'GET /fhir/Patient/p7'],
    ['{"diagnostics": "No Patient/p.7-a. Try others"}', 'GET /fhir/Patient/p.7-a'],
    ['404 Patient/p7', 'GET /fhir/Patient/p7'],
    ['no id', undefined],
    ['and/or', undefined],
  ])('reads %j as %j', (text, request) => {
    expect(refusedReadIn(text)).toBe(request);
  });
});

describe(resourceIn, () => {
  it.each([
    ['/fhir/Patient/p7', { type: 'Patient', id: 'p7' }],
    ['/Patient/p7?_format=json', { type: 'Patient', id: 'p7' }],
    ['/fhir/Patient', undefined],
    ['/fhir/Patient/p7/_history', undefined],
    ['/fhir/Patient/$everything', undefined],
    ['/auth/userinfo', undefined],
  ])('reads %j as %j', (uri, resource) => {
    expect(resourceIn(uri)).toEqual(resource);
  });
});
