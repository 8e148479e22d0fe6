import { describe, expect, it } from '@jest/globals';
import { faultOfShape } from './own-shape';

const faultOf = (shape: Record<string, Record<string, string>>): string | undefined =>
  faultOfShape({ type: 'Bed', shape });

describe('the shape of a type of a module', () => {
  it.each([
    [{ Bed: { code: '1..1 code', '*': '0..1 Any' } }],
    [
      {
        Bed: {
          'size[x]': '0..1 Quantity|string',
          user: '0..* NativeReference(User)',
          ward: '1..* Reference(Location,Ward)',
        },
      },
    ],
    [{ Bed: { part: '0..* Bed.part' }, 'Bed.part': { note: '0..* Annotation', sub: '0..1 Bed.part' } }],
  ])('is valid: %j', (shape) => {
    expect(faultOf(shape)).toBeUndefined();
  });

  it.each([
    [{ Bed: { code: '1-1 code' } }, '"Bed.code" is "1-1 code". Write it as'],
    [{ Bed: { code: '1..1' } }, '"Bed.code" is "1..1". Write it as'],
    [{ Bed: { code: '1..1 code|' } }, '"Bed.code" is "1..1 code|". Write it as'],
    [{ Bed: { code: '1..1 cod' } }, '"Bed.code" has the type "cod", which neither R4 nor the shape has'],
    [{ Bed: { part: '0..* Bed.part' } }, '"Bed.part" has the type "Bed.part"'],
    [{ Bde: { code: '1..1 code' } }, 'it has no entry "Bed"'],
    [
      { Bed: { part: '0..* BackboneElement' }, 'Bed.part': { code: '1..1 code' } },
      'no element has the type "Bed.part"',
    ],
  ])('is invalid: %j', (shape, fault) => {
    expect(faultOf(shape)).toContain(fault);
  });
});
