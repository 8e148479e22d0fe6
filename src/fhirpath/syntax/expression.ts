/** An expression of FHIRPath (http://hl7.org/fhirpath/N1) as a tree. */
export type Expression =
  | { readonly kind: 'member'; readonly of?: Expression; readonly name: string }
  | {
      readonly kind: 'call';
      readonly of?: Expression;
      readonly name: string;
      readonly arguments: readonly Expression[];
    }
  | { readonly kind: 'index'; readonly of: Expression; readonly index: number }
  /** `isDecimal` distinguishes 1.0 from 1. */
  | { readonly kind: 'literal'; readonly value: string | number | boolean; readonly isDecimal?: true }
  /** A variable such as `%resource` or `%'vs-name'`; `name` is without the sign. */
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'this' }
  /** The empty collection, `{}`. */
  | { readonly kind: 'empty' }
  | { readonly kind: 'binary'; readonly operator: Operator; readonly left: Expression; readonly right: Expression }
  /** Syntax that is not compiled: dates, quantities, `$index`, and a sign before anything other than a number. */
  | { readonly kind: 'foreign'; readonly what: string; readonly parts: readonly Expression[] };

/**
 * Precedence of the operators (http://hl7.org/fhirpath/N1/#operator-precedence). `is` and `as` have a type on their
 * right.
 */
export const BINDING_POWER = {
  implies: 1,
  or: 2,
  xor: 2,
  and: 3,
  in: 4,
  contains: 4,
  '=': 5,
  '!=': 5,
  '~': 5,
  '!~': 5,
  '<': 6,
  '<=': 6,
  '>': 6,
  '>=': 6,
  '|': 7,
  is: 8,
  as: 8,
  '+': 9,
  '-': 9,
  '&': 9,
  '*': 10,
  '/': 10,
  div: 10,
  mod: 10,
} as const;

export type Operator = keyof typeof BINDING_POWER;

/** A position in the text of an expression. Line and column are counted from 1. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** Positions are outside of the tree, so that equal expressions have equal trees wherever they are. */
const places = new WeakMap<Expression, Place>();

export function placed(expression: Expression, place: Place): Expression {
  places.set(expression, place);
  return expression;
}

/** The reason why an expression cannot be used, with line and column if they are known. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError';

  constructor(message: string, at?: Expression | Place) {
    const place = at === undefined || 'line' in at ? at : places.get(at);
    super(place === undefined ? message : `line ${place.line}, column ${place.column}: ${message}`);
  }
}

/** Valid FHIRPath that is not compiled, so that the FHIRPath library evaluates it. */
export class NotCompiled extends ExpressionError {}

/**
 * A type as an expression names it, without the namespace `FHIR`: `FHIR.Quantity` becomes `Quantity`. `System.String`
 * and `String` stay distinct.
 */
export interface TypeName {
  readonly name: string;
  readonly isSystem: boolean;
}

const SYSTEM_TYPES = /^(Boolean|String|Integer|Decimal|Date|DateTime|Time)$/;

/**
 * Reads the type after `is` and `as`, or in `ofType()`.
 * @throws ExpressionError if it is no type
 */
export function typeNameOf(expression: Expression): TypeName {
  if (expression.kind === 'member') {
    const { of, name } = expression;
    if (of === undefined) return { name, isSystem: SYSTEM_TYPES.test(name) };
    if (of.kind === 'member' && of.of === undefined && (of.name === 'FHIR' || of.name === 'System'))
      return { name, isSystem: of.name === 'System' };
  }
  throw new ExpressionError('a type name is expected after "is" and "as"', expression);
}

export function childNodesOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'member':
      return expression.of === undefined ? [] : [expression.of];
    case 'call':
      return expression.of === undefined ? expression.arguments : [expression.of, ...expression.arguments];
    case 'index':
      return [expression.of];
    case 'binary':
      return [expression.left, expression.right];
    case 'foreign':
      return expression.parts;
    case 'literal':
    case 'variable':
    case 'this':
    case 'empty':
      return [];
  }
}
