import { describe, expect, it } from '@jest/globals';
import { ElementTables } from '../fhir/definitions/element-tables';
import { compileCriterion, compilePaths, parseExpression } from './fhirpath';

const ELEMENTS = new ElementTables({
  Shelf: {
    code: '1..1 code',
    room: '0..1 Reference(Location)',
    'size[x]': '0..1 Quantity|string',
    item: '0..* Shelf.item',
    more: '0..1 Any',
    owner: '0..1 NativeReference(User)',
    open: '0..1 Shelf.open',
  },
  'Shelf.item': { lot: '0..1 string', part: '0..* Shelf.item' },
  'Shelf.open': { a: '0..1 string', '*': '0..1 Any' },
}).namedIn('Shelf');

const pathsOf = (expression: string): string[] =>
  compilePaths(parseExpression(expression), 'Shelf', ELEMENTS).map(({ steps }) =>
    steps.flatMap(({ member }) => member ?? []).join('.'),
  );

const matches = (expression: string, content: object): boolean => {
  const current = { resourceType: 'Shelf', ...content };
  const versions = { values: { current, previous: undefined }, current: JSON.stringify(current), previous: undefined };
  return compileCriterion(expression, 'Shelf', ELEMENTS).matches(versions, () => undefined);
};

const KNOWN = [
  'code',
  'sizeQuantity.value',
  'sizeString',
  'item.part.part.lot',
  'room.identifier.value',
  'more.any.thing',
  'owner.id',
  'open.a',
  'open.other',
  'meta.tag.code',
  'id',
  'extension.valueCode',
  "extension('u').value",
  'contained.name',
];

const UNKNOWN: readonly (readonly [string, string])[] = [
  ['size', 'Shelf has no element "size"'],
  ['itm.lot', 'Shelf has no element "itm"; do you mean "item"?'],
  ['item.lto', 'Shelf.item has no element "lto"; do you mean "lot"?'],
  ['code.text', 'code has no element "text"'],
];

describe('an expression about a type with a shape', () => {
  it.each(KNOWN)('may select %s for a search parameter', (path) => {
    expect(pathsOf(`Shelf.${path}`)).toContain(path.replace("('u').value", '.valueCode'));
  });

  it.each(KNOWN)('may test %s in a criterion', (path) => {
    expect(matches(`${path}.exists()`, {})).toBe(false);
  });

  it.each(UNKNOWN)('is refused if the shape has no such member: %s', (path, fault) => {
    expect(() => pathsOf(path)).toThrow(fault);
    expect(() => compileCriterion(`${path}.exists()`, 'Shelf', ELEMENTS)).toThrow(fault);
    expect(() => compileCriterion(`%previous.${path}.exists()`, 'Shelf', ELEMENTS)).toThrow(fault.replace(/;.*/, ''));
  });

  it('compares values by the types of the shape', () => {
    expect(pathsOf("Shelf.item.where(lot = 'a').part.lot")).toEqual(['item.part.lot']);
    expect(matches("item.where(lot = 'a').part.lot = 'b'", { item: [{ lot: 'a', part: [{ lot: 'b' }] }] })).toBe(true);
    expect(matches("sizeString = 'l' and owner.id = 'u'", { sizeString: 'l', owner: { id: 'u' } })).toBe(true);
    expect(matches("_code.extension.valueCode = 'x'", { _code: { extension: [{ valueCode: 'x' }] } })).toBe(true);
  });
});
