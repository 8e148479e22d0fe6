import { isObject } from '../../platform/json/plain-object';
import { dateSpanOf } from '../../fhir/instant';
import { NotCompiled } from '../syntax/expression';
import { assertSingle, type Compiled, EvaluationError, evaluatorOf, question } from './compiled';
import { holds } from './memory';
import { comparisonKindOf, isSameValue, isSystem, type Kind, orderOfNumbers, plain } from './values';

/**
 * Kinds whose values are equal if their JSON is equal. Times may differ in precision and quantities in their units, so
 * the FHIRPath library compares these.
 */
const PLAIN: readonly Kind[] = ['boolean', 'string', 'integer', 'decimal', 'object'];
const isNumber = (kind: Kind): boolean => kind === 'integer' || kind === 'decimal';

/** @throws NotCompiled if plain equality may not give the result of the FHIRPath library */
function assertComparable(left: Compiled, right: Compiled): void {
  for (const { type: a } of left.branches) {
    for (const { type: b } of right.branches) {
      const kinds = [comparisonKindOf(a), comparisonKindOf(b)] as const;
      const isAlike = kinds[0] === kinds[1] || kinds.every(isNumber);
      // Whether values of these two kinds are never equal. A boolean never equals a value of another kind, and a text
      // never equals a number.
      const isUnlike = kinds.includes('boolean')
        ? !kinds.includes('object') && !kinds.includes('open')
        : kinds.includes('string') && kinds.some(isNumber);
      if (!(isAlike && PLAIN.includes(kinds[0])) && !isUnlike)
        throw new NotCompiled(`the equality of ${a ?? 'any'} and ${b ?? 'any'} is left to the library`);
    }
  }
}

/** Whether both sides are elements. Ids and extensions of primitives are compared only between elements. */
export function areNodes(...sides: readonly Compiled[]): boolean {
  return sides.every(({ branches }) => branches.every(({ type }) => !isSystem(type)));
}

/** Compiles `=` and `!=`. The result is undefined if a side is empty (http://hl7.org/fhirpath/N1/#equality). */
export function equality(left: Compiled, right: Compiled, isEqual: boolean): Compiled {
  assertComparable(left, right);
  const isOfNodes = areNodes(left, right);
  const [a, b] = [evaluatorOf(left), evaluatorOf(right)];
  return question((focus, variables) => {
    const [lefts, rights] = [a(focus, variables), b(focus, variables)];
    if (lefts.length === 0 || rights.length === 0) return undefined;
    const isFound =
      lefts.length === rights.length && lefts.every((value, at) => isSameValue(value, rights[at], isOfNodes));
    return isFound === isEqual;
  });
}

/** Compiles `in`; with the sides swapped, `contains`. */
export function membership(item: Compiled, list: Compiled): Compiled {
  assertComparable(item, list);
  const isOfNodes = areNodes(item, list);
  const [a, b] = [evaluatorOf(item), evaluatorOf(list)];
  return question((focus, variables) => {
    const sought = a(focus, variables);
    if (sought.length === 0) return undefined;
    const among = b(focus, variables);
    if (among.length === 0) return false;
    assertSingle(sought);
    return holds(among, sought[0], isOfNodes);
  });
}

type Order = (left: unknown, right: unknown) => number | undefined;

/**
 * Compiles `<`, `<=`, `>` and `>=`. The result is undefined if the values cannot be ordered.
 * @param isOfInvariant whether dates and quantities are compared here and not by the FHIRPath library; different zones
 * or units then give undefined
 */
export function inequality(operator: string, left: Compiled, right: Compiled, isOfInvariant: boolean): Compiled {
  const order = orderOf(left, right, isOfInvariant);
  const [a, b] = [evaluatorOf(left), evaluatorOf(right)];
  return question((focus, variables) => {
    const [lefts, rights] = [a(focus, variables), b(focus, variables)];
    if (lefts.length === 0 || rights.length === 0) return undefined;
    for (const side of [lefts, rights]) assertSingle(side);
    const found = order(plain(lefts[0]), plain(rights[0]));
    if (found === undefined) return undefined;
    return operator.startsWith('<')
      ? found < 0 || (found === 0 && operator === '<=')
      : found > 0 || (found === 0 && operator === '>=');
  });
}

function orderOf(left: Compiled, right: Compiled, isOfInvariant: boolean): Order {
  const kinds = new Set(
    [...left.branches, ...right.branches]
      .map(({ type }) => comparisonKindOf(type))
      .map((kind) => (isNumber(kind) ? 'decimal' : kind)),
  );
  const [kind] = kinds.size === 1 ? kinds : [];
  const isOfTime = [...left.branches, ...right.branches].some(({ type }) => type === 'time');
  if (kind === 'temporal' && isOfInvariant && !isOfTime) return orderOfDates;
  if (kind === 'quantity' && isOfInvariant) return orderOfQuantities;
  if (kind === 'string' || kind === 'decimal') return orderOfPlain;
  throw new NotCompiled(`the order of ${[...kinds].join(' and ')} is left to the library`);
}

function orderOfPlain(left: unknown, right: unknown): number | undefined {
  if (left === undefined || right === undefined) return undefined;
  if (typeof left === 'number' && typeof right === 'number') return orderOfNumbers(left, right);
  if (typeof left === 'string' && typeof right === 'string') return left < right ? -1 : left > right ? 1 : 0;
  throw new EvaluationError('the values are of types that do not go together');
}

/** Dates of different precision are ordered only if they do not overlap. */
function orderOfDates(left: unknown, right: unknown): number | undefined {
  if (typeof left !== 'string' || typeof right !== 'string') return undefined;
  const [a, b] = [dateSpanOf(left), dateSpanOf(right)];
  if (a === undefined || b === undefined) return undefined;
  // A text without a zone may be 14 hours off. So close dates are not ordered.
  if (a.hasZone !== b.hasZone && Math.abs(a.low - b.low) < 2 * 86_400_000) return undefined;
  if (a.low === b.low && a.high === b.high) return 0;
  if (a.high < b.low) return -1;
  return a.low > b.high ? 1 : undefined;
}

/** Only quantities of one unit are ordered: the FHIRPath library alone converts units. */
function orderOfQuantities(left: unknown, right: unknown): number | undefined {
  if (!isObject(left) || !isObject(right)) return undefined;
  const isSameUnit =
    left.system === right.system && left.code === right.code && (left.code !== undefined || left.unit === right.unit);
  return isSameUnit ? orderOfPlain(left.value, right.value) : undefined;
}
