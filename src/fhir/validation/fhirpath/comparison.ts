import { isDeepStrictEqual } from 'node:util';
import { isSubtype } from '../../definitions';
import { dateSpanOf } from '../../instant';
import {
  assertFitting,
  assertSingle,
  type Compiled,
  isObject,
  question,
  typeOf,
  ValueLess,
  valuesOf,
} from './compiled';
import { holds } from './memory';
import { ExpressionError } from '../../fhirpath/expression';

/** Types whose equality needs more than their JSON: precision, units. */
const SUBTLE = ['date', 'dateTime', 'instant', 'time', 'Quantity'];
const TEMPORAL = ['date', 'dateTime', 'instant'];

/** `=` and `!=`: undefined where a side is empty (http://hl7.org/fhirpath/N1/#equality). */
export function equality(left: Compiled, right: Compiled, isEqual: boolean): Compiled {
  for (const { type } of [...left.branches, ...right.branches]) {
    if (type !== undefined && SUBTLE.some((subtle) => isSubtype(type, subtle))) {
      throw new ExpressionError(`"=" of ${type} is left to the library`);
    }
  }
  const [a, b] = [valuesOf(left), valuesOf(right)];
  return question((focus, variables) => {
    const [lefts, rights] = [a(focus, variables), b(focus, variables)];
    if (lefts.length === 0 || rights.length === 0) return undefined;
    if ([...lefts, ...rights].some((value) => value instanceof ValueLess)) return !isEqual;
    return isSame(lefts, rights) === isEqual;
  });
}

function isSame(lefts: readonly unknown[], rights: readonly unknown[]): boolean {
  if (lefts.length === 1 && rights.length === 1 && typeof lefts[0] !== 'object') return lefts[0] === rights[0];
  return isDeepStrictEqual(lefts, rights);
}

/** `in` and, with the sides swapped, `contains`. */
export function membership(item: Compiled, list: Compiled): Compiled {
  const [a, b] = [valuesOf(item), valuesOf(list)];
  return question((focus, variables) => {
    const sought = a(focus, variables);
    assertSingle(sought, variables);
    if (sought.length !== 1) return undefined;
    return holds(b(focus, variables), sought[0]);
  });
}

type Order = (left: unknown, right: unknown) => number | undefined;

/** `<`, `<=`, `>`, `>=` of numbers, strings, dates and quantities; undefined where they cannot be ordered. */
export function inequality(operator: string, left: Compiled, right: Compiled): Compiled {
  const order = orderOf([typeOf(left), typeOf(right)]);
  const [a, b] = [valuesOf(left), valuesOf(right)];
  return question((focus, variables) => {
    const [lefts, rights] = [a(focus, variables), b(focus, variables)];
    for (const side of lefts.length > 0 && rights.length > 0 ? [lefts, rights] : []) assertSingle(side, variables);
    if (lefts.length !== 1 || rights.length !== 1) return undefined;
    assertFitting(typeof lefts[0] === typeof rights[0], variables);
    const found = order(lefts[0], rights[0]);
    if (found === undefined) return undefined;
    return operator.startsWith('<')
      ? found < 0 || (found === 0 && operator === '<=')
      : found > 0 || (found === 0 && operator === '>=');
  });
}

function orderOf(types: readonly (string | undefined)[]): Order {
  if (types.every((type) => type !== undefined && TEMPORAL.includes(type))) return orderOfDates;
  if (types.every((type) => type !== undefined && isSubtype(type, 'Quantity'))) return orderOfQuantities;
  if (types.some((type) => type !== undefined && SUBTLE.some((subtle) => isSubtype(type, subtle)))) {
    throw new ExpressionError('values of these types are compared by the library');
  }
  return orderOfPlain;
}

function orderOfPlain(left: unknown, right: unknown): number | undefined {
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  if (typeof left === 'string' && typeof right === 'string') return left < right ? -1 : left > right ? 1 : 0;
  return undefined;
}

/** Dates of different precision have an order only where they do not overlap. */
function orderOfDates(left: unknown, right: unknown): number | undefined {
  if (typeof left !== 'string' || typeof right !== 'string') return undefined;
  const [a, b] = [dateSpanOf(left), dateSpanOf(right)];
  if (a === undefined || b === undefined) return undefined;
  // What has a zone and what has none can be 14 hours apart from what their texts say.
  if (a.hasZone !== b.hasZone && Math.abs(a.low - b.low) < 2 * 86_400_000) return undefined;
  if (a.low === b.low && a.high === b.high) return 0;
  if (a.high < b.low) return -1;
  return a.low > b.high ? 1 : undefined;
}

/** Quantities of one unit; the library knows how to convert, and an invariant never needs it. */
function orderOfQuantities(left: unknown, right: unknown): number | undefined {
  if (!isObject(left) || !isObject(right)) return undefined;
  const isSameUnit =
    left.system === right.system && left.code === right.code && (left.code !== undefined || left.unit === right.unit);
  return isSameUnit ? orderOfPlain(left.value, right.value) : undefined;
}
