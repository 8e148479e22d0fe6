import { describe, expect, it } from '@jest/globals';
import { compilePaths, parseExpression } from '../../fhirpath/fhirpath';
import { unknownMember } from './unknown-member';

const SHAPE = {
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
};

const faultOf = (expression: string): string | undefined =>
  compilePaths(parseExpression(expression), 'Shelf')
    .map((branch) => unknownMember(SHAPE, 'Shelf', branch))
    .find((fault) => fault !== undefined);

describe(unknownMember.name, () => {
  it.each([
    'Shelf.code',
    'Shelf.sizeQuantity.value',
    'Shelf.sizeString',
    'Shelf.item.part.part.lot',
    'Shelf.item.where(lot.exists()).part',
    'Shelf.room.identifier.value',
    'Shelf.more.any.thing',
    'Shelf.owner.id',
    'Shelf.open.other',
    'Shelf.meta.tag.code',
    'Shelf.id',
    'Shelf.extension.valueCode',
  ])('finds nothing wrong with %s', (expression) => {
    expect(faultOf(expression)).toBeUndefined();
  });

  it.each([
    ['Shelf.size', '"size" there'],
    ['Shelf.itm.lot', '"itm" there; do you mean "item"?'],
    ['Shelf.item.lto', '"lto" there; do you mean "lot"?'],
    ['Shelf.code.text', '"text" there'],
    ['Shelf.code | Shelf.cde', '"cde" there; do you mean "code"?'],
  ])('names the member of %s', (expression, fault) => {
    expect(faultOf(expression)).toContain(`the shape has no member ${fault}`);
  });
});
