import { describe, expect, it } from '@jest/globals';
import { type RequestObject } from '../request/access-request';
import { compileSchema } from './compile-schema';
import { partsOfSchema } from './parts-of-schema';

const failureOf = (schema: unknown, request: RequestObject): string | undefined => compileSchema(schema)(request)?.path;

const faultOf = (schema: unknown): string => {
  try {
    compileSchema(schema);
    return 'none';
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
};

const onlyOrganizations = {
  required: ['params'],
  properties: {
    params: { required: ['resource/type'], properties: { 'resource/type': { const: 'Organization' } } },
  },
};

describe(compileSchema, () => {
  it('validates the request object', () => {
    expect(failureOf(onlyOrganizations, { params: { 'resource/type': 'Organization' } })).toBeUndefined();
    expect(failureOf(onlyOrganizations, { params: { 'resource/type': 'Patient' } })).toBe(
      'schema.properties.params.properties.resource~1type.const',
    );
    expect(failureOf(onlyOrganizations, {})).toBe('schema.required');
  });

  it.each([[''], [null], [[]], [{}], [[{ b: [''] }]]])('treats %j as missing', (empty) => {
    const schema = { required: ['body'], properties: { body: { required: ['a'] } } };
    expect(failureOf(schema, { body: { a: empty, c: 1 } })).toBe('schema.properties.body.required');
  });

  it('treats false and 0 as present', () => {
    const schema = { required: ['body'], properties: { body: { required: ['a', 'b'] } } };
    expect(failureOf(schema, { body: { a: false, b: 0 } })).toBeUndefined();
  });

  const twice = (name: string): object => ({
    anyOf: [{ $ref: `#/definitions/${name}` }, { $ref: `#/definitions/${name}` }],
  });
  const doubling = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`d${i}`, twice(`d${i + 1}`)]));

  it.each<[string, unknown, string]>([
    ['nothing', undefined, 'must be a JSON schema'],
    ['a schema without conditions', {}, 'must be a JSON schema'],
    ['an unknown keyword', { propertees: {} }, 'unknown keyword'],
    ['an unknown format', { properties: { uri: { format: 'uri' } } }, 'unknown format'],
    ['an asynchronous schema', { $async: true, required: ['user'] }, 'uses $async'],
    ['uniqueItems, which compares all items', { properties: { body: { uniqueItems: true } } }, 'uses uniqueItems'],
    [
      'uniqueItems below a property whose name is a keyword',
      { properties: { type: { uniqueItems: true } } },
      'uses uniqueItems',
    ],
    ['a reference to another schema', { $ref: 'http://other.example/schema' }, 'refers to http://other.example/schema'],
    ['a reference to a missing definition', { $ref: '#/definitions/a' }, 'refers to #/definitions/a'],
    [
      'a reference to itself',
      { definitions: { a: { not: { $ref: '#/definitions/a' } } }, $ref: '#/definitions/a' },
      'refers to itself',
    ],
    [
      'references that double at each level',
      { definitions: { ...doubling, d20: { type: 'string' } }, ...twice('d0') },
      'is too large',
    ],
    ['an invalid schema', { properties: 5 }, 'cannot be used'],
    ['a pattern with look-around', { properties: { uri: { pattern: '(?=x)' } } }, 'is no regular expression'],
    ['a long text', { title: 'x'.repeat(70_000), required: ['user'] }, 'has more than 65536'],
  ])('refuses %s', (_case, schema, message) => {
    expect(faultOf(schema)).toContain(message);
  });

  it('grants nothing to a request that is too large, even if the schema negates', () => {
    const body = Array.from({ length: 100_001 }, () => 1);
    expect(failureOf({ not: { properties: { body: { maxItems: 1 } } } }, { body })).toBe('schema');
    const uri = 'a'.repeat(1_000_000);
    expect(failureOf({ not: { properties: { uri: { pattern: '^(a+)+$' } } } }, { uri })).toBe('schema');
  });
});

describe(partsOfSchema, () => {
  it('returns the parts that the outermost keywords name', () => {
    const schema = {
      required: ['user'],
      not: { required: ['client'] },
      anyOf: [{ properties: { uri: {}, other: {} } }],
    };
    expect([...partsOfSchema(schema)].sort()).toEqual(['client', 'uri', 'user']);
  });

  it.each([
    { minProperties: 3 },
    { additionalProperties: false },
    { not: { propertyNames: {} } },
    { $ref: '#/definitions/a' },
  ])('returns all parts when %j may depend on any of them', (schema) => {
    expect(partsOfSchema(schema).size).toBeGreaterThan(10);
  });
});
