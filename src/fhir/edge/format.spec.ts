import { describe, expect, it } from '@jest/globals';
import { negotiatedFormat } from './format';

const typeOf = (accept: string | undefined, asked: string | null = null): string | undefined =>
  negotiatedFormat(accept, asked)?.contentType.split(';')[0];

describe(negotiatedFormat.name, () => {
  it.each([
    [undefined, 'application/fhir+json'],
    ['', 'application/fhir+json'],
    ['*/*', 'application/fhir+json'],
    ['application/*', 'application/fhir+json'],
    ['application/fhir+json', 'application/fhir+json'],
    ['application/json', 'application/json'],
    ['application/json+fhir', 'application/json+fhir'],
    ['text/json', 'text/json'],
    ['text/yaml', 'text/yaml'],
    ['application/yaml', 'application/yaml'],
    ['application/fhir+yaml', 'application/fhir+yaml'],
    ['Application/FHIR+JSON; charset=utf-8', 'application/fhir+json'],
    ['application/fhir+json; fhirVersion=4.0', 'application/fhir+json'],
    // The Accept headers of a browser, of axios, and of a FHIR client that prefers XML.
    ['text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8', 'application/fhir+json'],
    ['application/json, text/plain, */*', 'application/json'],
    ['application/fhir+xml;q=1.0, application/fhir+json;q=0.5', 'application/fhir+json'],
    ['application/fhir+json;q=0.5, text/yaml', 'text/yaml'],
    ['application/json;q=0.8, application/fhir+json;q=0.8', 'application/json'],
    ['*/*, application/fhir+json;q=0', 'application/json'],
    ['application/*;q=0, */*', 'text/json'],
    ['application/json;q=nonsense', 'application/json'],
  ])('selects for Accept %j the type %s', (accept, wanted) => {
    expect(typeOf(accept)).toBe(wanted);
  });

  it.each([
    'application/fhir+xml',
    'application/xml, text/html',
    '*/*;q=0',
    'application/fhir+json; fhirVersion=5.0',
    'json',
  ])('selects no type for Accept %j', (accept) => {
    expect(typeOf(accept)).toBeUndefined();
  });

  it.each([
    ['json', 'application/fhir+json'],
    ['yaml', 'text/yaml'],
    ['application/json', 'application/json'],
    ['application/fhir+json', 'application/fhir+json'],
    ['application/fhir json', 'application/fhir+json'],
    ['application/json fhir', 'application/json+fhir'],
    ['text/yaml', 'text/yaml'],
    ['', 'application/fhir+json'],
    ['xml', undefined],
    ['*/*', undefined],
  ])('lets _format=%s override Accept', (asked, wanted) => {
    expect(typeOf(asked === '' ? undefined : 'application/fhir+xml', asked)).toBe(wanted);
  });
});
