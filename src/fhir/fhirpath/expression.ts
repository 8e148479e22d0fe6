/**
 * FHIRPath (http://hl7.org/fhirpath/N1) as a tree: what search parameters, invariants and profiles are compiled from. Dates and
 * quantities as literals, `$index`, `$total` and signs are not part of it.
 */
export type Expression =
  | { readonly kind: 'member'; readonly of?: Expression; readonly name: string }
  | {
      readonly kind: 'call';
      readonly of?: Expression;
      readonly name: string;
      readonly arguments: readonly Expression[];
    }
  | { readonly kind: 'index'; readonly of: Expression; readonly index: number }
  | { readonly kind: 'literal'; readonly value: string | number | boolean }
  /** `%resource`, `%'vs-name'`: the name without the sign. */
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'this' }
  /** `{}` */
  | { readonly kind: 'empty' }
  | { readonly kind: 'binary'; readonly operator: Operator; readonly left: Expression; readonly right: Expression };

/** How tightly operators bind (http://hl7.org/fhirpath/N1/#operator-precedence). `is` and `as` have a type on their right. */
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

/** Tells why an expression cannot be used: it is no FHIRPath, or leaves the part of it that is compiled. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError';
}

/**
 * The type that stands after `is` and `as` or in `ofType()`, without its namespace: `FHIR.Quantity` → `Quantity`. The System types
 * are named like FHIR's primitives but for their first letter.
 * @throws ExpressionError when it is no type
 */
export function typeNameOf(expression: Expression): string {
  if (expression.kind === 'member') {
    const { of, name } = expression;
    const isQualified = of?.kind === 'member' && of.of === undefined && (of.name === 'FHIR' || of.name === 'System');
    if (of === undefined || isQualified)
      return /^(Boolean|String|Integer|Decimal)$/.test(name) ? name.toLowerCase() : name;
  }
  throw new ExpressionError('a type name is expected after "is" and "as"');
}

/** How many elements one compilation may lead to: each `extension.value` multiplies them by fifty, also inside of `where()`. */
export class CompilationBudget {
  private left = 2000;

  /** @throws ExpressionError when the expression leads to too many elements at once */
  spend(elements: number): void {
    this.left -= elements;
    if (this.left < 0) throw new ExpressionError('it leads to too many elements at once');
  }
}
