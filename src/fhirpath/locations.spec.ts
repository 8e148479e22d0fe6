import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { compileLocations } from './locations';

/**
 * Evaluates the path by the FHIRPath library on the whole resource. The function `where(true)` changes no result, but
 * with it the library gets the whole resource and not only the elements on the path.
 */
const inWhole = (path: string, resource: unknown): unknown => compileLocations(`${path}.where(true)`)(resource);

const index = fc.option(fc.nat({ max: 3 }), { nil: undefined });
const chain = (...names: readonly string[]): fc.Arbitrary<string> =>
  fc
    .tuple(...names.map((name) => index.map((at) => (at === undefined ? name : `${name}[${at}]`))))
    .map((parts) => parts.join('.'));

const given = fc.array(fc.constantFrom('a', 'b', null), { maxLength: 3 });
const name = fc.record(
  { family: fc.constant('f'), given, _given: fc.array(fc.constantFrom(null, { id: 'i' })) },
  { requiredKeys: [] },
);
const telecom = fc.array(fc.record({ value: fc.constant('v') }), { maxLength: 3 });
const contact = fc.record(
  { name, telecom, extension: fc.array(fc.constant({ url: 'u', valueString: 's' })) },
  { requiredKeys: [] },
);
const patient = fc.record(
  {
    resourceType: fc.constant('Patient'),
    name: fc.array(name, { maxLength: 3 }),
    contact: fc.array(fc.option(contact, { freq: 5 }), { maxLength: 3 }),
    multipleBirthInteger: fc.constant(1),
    contained: fc.array(fc.record({ resourceType: fc.constant('Basic'), id: fc.constant('c') }), { maxLength: 2 }),
  },
  { requiredKeys: ['resourceType'] },
);
const path = fc
  .tuple(
    fc.constantFrom('', 'Patient.', 'Observation.'),
    fc.oneof(
      chain('name'),
      chain('name', 'given'),
      chain('name', 'given', 'id'),
      chain('contact', 'name', 'given'),
      chain('contact', 'telecom', 'value'),
      chain('contact', 'extension', 'value'),
      chain('contained', 'id'),
      chain('multipleBirth'),
      chain('constructor', 'name'),
    ),
  )
  .map((parts) => parts.join(''));

describe(compileLocations.name, () => {
  it('finds the same elements if the library gets only the elements on the path', () => {
    fc.assert(
      fc.property(patient, path, (resource, text) => {
        expect(compileLocations(text)(resource)).toEqual(inWhole(text, resource));
      }),
      { numRuns: 500 },
    );
  });

  it('leaves the resource unchanged', () => {
    const resource = { resourceType: 'Patient', contact: [{ telecom: [{ value: 'a' }, { value: 'b' }] }] };
    const before = JSON.stringify(resource);
    expect(compileLocations('Patient.contact[0].telecom[1].value')(resource)).toEqual([
      [
        { key: 'contact', index: 0 },
        { key: 'telecom', index: 1 },
        { key: 'value', index: undefined },
      ],
    ]);
    expect(JSON.stringify(resource)).toBe(before);
  });

  it('reports the column of a syntax error in the path as it was sent', () => {
    expect(() => compileLocations('Patient.name[123].and')).toThrow('column 19');
  });
});
