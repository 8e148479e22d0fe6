import { describe, expect, it } from '@jest/globals';
import { readAddendumTypes } from './read-addendum-types';

const faultsIn = (entries: unknown): string[] => {
  try {
    readAddendumTypes(JSON.stringify(entries));
    return [];
  } catch (error) {
    return error instanceof Error ? error.message.split('\n') : ['?'];
  }
};
const withSchema = (schema: unknown): unknown => [{ type: 'acme/A', properties: { a: schema } }];

describe(readAddendumTypes, () => {
  it('reads types with and without required members', () => {
    const types = readAddendumTypes('[{"type":"acme/A"},{"type":"acme/B","required":["a","a","target"]}]');
    expect([...types.keys()]).toEqual(['acme/A', 'acme/B']);
    expect(types.get('acme/B')?.required).toEqual(['a']);
  });

  it.each<[string, unknown, string]>([
    [
      'an object in place of the list',
      { type: 'acme/A' },
      'must be an array of types: [{"type", "required", "properties"}]',
    ],
    ['a text in place of a type', ['acme/A'], '[0] must be an object'],
    ['a missing type', [{}], '[0].type must be a text such as "acme.sdc/Handover"'],
    ['an empty type', [{ type: '' }], '[0].type must be a text such as "acme.sdc/Handover"'],
    [
      'an addendum type of this server',
      [{ type: 'svc.sdc.addendum/Note' }],
      '[0].type is a kind of the service, which has its own rules',
    ],
    [
      'the type History',
      [{ type: 'svc.sdc.addendum/History' }],
      '[0].type is a kind of the service, which has its own rules',
    ],
    [
      'S8.2: a type that differs from History in case and space only',
      [{ type: 'svc.sdc.addendum/history ' }],
      '[0].type is reserved for the service. Use a prefix of your own, such as "acme.sdc.addendum/Handover"',
    ],
    ['S8.2: a type with invisible characters', [{ type: 'acme/A\u200b' }], '[0].type must be printable ASCII'],
    ['a duplicate type', [{ type: 'acme/A' }, { type: 'acme/A' }], '[1].type is declared twice: acme/A'],
    [
      'an unknown member',
      [{ type: 'acme/A', require: [] }],
      '[0].require is no member of a type. Did you mean "required"?',
    ],
    [
      'required members that are no texts',
      [{ type: 'acme/A', required: [1] }],
      '[0].required must be an array of names',
    ],
    [
      'date as a required member',
      [{ type: 'acme/A', required: ['date'] }],
      '[0].required: date is assigned by the service',
    ],
    [
      'id as a property',
      [{ type: 'acme/A', properties: { id: { type: 'string' } } }],
      '[0].properties.id is assigned by the service',
    ],
    [
      'properties as a list',
      [{ type: 'acme/A', properties: [] }],
      '[0].properties must be an object with a JSON schema for each member',
    ],
    ['a schema without conditions', withSchema({}), '[0].properties.a must be a JSON schema that asks for something'],
    [
      'a misspelt keyword',
      withSchema({ typ: 'string' }),
      '[0].properties.a cannot be used: strict mode: unknown keyword: "typ"',
    ],
    [
      'an unknown format',
      withSchema({ format: 'e-mail' }),
      '[0].properties.a cannot be used: unknown format "e-mail" ignored in schema at path "#"',
    ],
    [
      'a costly keyword',
      withSchema({ uniqueItems: true }),
      '[0].properties.a uses uniqueItems, which is not supported',
    ],
  ])('refuses %s', (_what, entries, fault) => {
    expect(faultsIn(entries)).toEqual([fault]);
  });

  it('reports all faults at once', () => {
    expect(
      faultsIn([{ required: ['id'] }, 1, { type: 'acme/A', properties: { a: { x: 1 }, b: { y: 1 } } }]),
    ).toHaveLength(5);
  });

  it.each(['', '[', '[{"type":"a","type":"b"}]', '[{"type":"a","properties":{"__proto__":{}}}]'])(
    'refuses %j as the reader of request bodies does',
    (text) => {
      expect(() => readAddendumTypes(text)).toThrow();
    },
  );
});
