import { elementsOfType, isPrimitiveType, isSubtype } from '../../fhir/definitions/definitions';
import { isObject } from '../../platform/json/plain-object';

/**
 * A primitive that has a JSON sibling (`_birthDate`) with its `id` and extensions. The value itself may be missing. A
 * primitive without a sibling is a plain value.
 */
export class Primitive {
  /** @param value undefined if there is only the sibling: the primitive then exists, but equals no value */
  constructor(
    readonly value: unknown,
    readonly element: unknown,
  ) {}
}

/** The value of a primitive, with or without a sibling. Other values are returned unchanged. */
export function plain(value: unknown): unknown {
  return value instanceof Primitive ? value.value : value;
}

const elementOf = (value: unknown): unknown => (value instanceof Primitive ? value.element : undefined);

/** Values of one kind are compared the same way. `open` means that only the data show the type. */
export type Kind = 'boolean' | 'string' | 'integer' | 'decimal' | 'temporal' | 'quantity' | 'object' | 'mixed' | 'open';

export const MIXED = 'mixed';

const KINDS: readonly (readonly [Kind, readonly string[]])[] = [
  ['boolean', ['boolean', 'System.Boolean']],
  ['integer', ['integer', 'System.Integer']],
  ['decimal', ['decimal', 'System.Decimal']],
  ['temporal', ['date', 'dateTime', 'instant', 'time']],
  ['quantity', ['Quantity']],
  ['string', ['System.String']],
  ['mixed', [MIXED]],
];

export function comparisonKindOf(type: string | undefined): Kind {
  if (type === undefined) return 'open';
  const known = KINDS.find(([, types]) => types.some((of) => type === of || isSubtype(type, of)));
  if (known !== undefined) return known[0];
  if (isPrimitiveType(type)) return 'string';
  return elementsOfType(type) === undefined ? 'open' : 'object';
}

export const isSystem = (type: string | undefined): boolean => type?.startsWith('System.') === true;

/** Rounds a number to the precision of the FHIRPath library (1e-8), so that 0.1 + 0.2 equals 0.3. */
const roundedAsLibrary = (value: number): number => Math.round(value / 1e-8) * 1e-8;

export function orderOfNumbers(left: number, right: number): number {
  return roundedAsLibrary(left) - roundedAsLibrary(right);
}

/**
 * Equality of single values (http://hl7.org/fhirpath/N1/#equals).
 * @param isOfNodes whether both sides are elements of resources; ids and extensions are then compared too
 */
export function isSameValue(left: unknown, right: unknown, isOfNodes: boolean): boolean {
  const [a, b] = [plain(left), plain(right)];
  if (typeof a !== 'object' || typeof b !== 'object') {
    const isEqual = typeof a === 'number' && typeof b === 'number' ? orderOfNumbers(a, b) === 0 : a === b;
    // A primitive without a value can be compared only by its sibling.
    if (a === undefined && !isOfNodes) return false;
    if (!isEqual || !isOfNodes || !(left instanceof Primitive || right instanceof Primitive)) return isEqual;
    return canonical(elementOf(left)) === canonical(elementOf(right));
  }
  return a === b || canonical(a) === canonical(b);
}

/** Two values are the same if their keys are. */
export function distinctKeyOf(value: unknown, isOfNodes: boolean): unknown {
  const bare = plain(value);
  const element = isOfNodes ? elementOf(value) : undefined;
  if (element !== undefined) return `+${canonical([bare, element])}`;
  if (typeof bare === 'number') return roundedAsLibrary(bare);
  if (typeof bare === 'string') return `'${bare}`;
  return typeof bare === 'object' ? `=${canonical(bare)}` : bare;
}

/** Prints JSON with sorted names, since the order of members has no meaning. */
function canonical(value: unknown): string | undefined {
  return JSON.stringify(value, (_key, member: unknown) =>
    isObject(member) ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1))) : member,
  );
}

/** In the order of their first occurrence. */
export function distinct(values: readonly unknown[], isOfNodes: boolean): readonly unknown[] {
  if (values.length < 2) return values;
  const seen = new Set<unknown>();
  return values.filter((value) => {
    const key = distinctKeyOf(value, isOfNodes);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
