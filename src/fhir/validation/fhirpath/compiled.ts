import { isSubtype } from '../../definitions';
import { ExpressionError } from '../../fhirpath/expression';

/** What `%` names mean while an expression runs. */
export interface Variables {
  readonly resource: unknown;
  readonly rootResource: unknown;
  readonly context: unknown;
  /** Versions of a resource, where the expression is about a change; absent where there is none. */
  readonly current?: unknown;
  readonly previous?: unknown;
  /** Whether what FHIRPath calls an error is thrown. Invariants take it as "unknown", which refuses nothing. */
  readonly isStrict?: boolean;
}

/** FHIRPath has no answer for these values, such as one of several where there should be one. */
export class EvaluationError extends Error {
  override readonly name = 'EvaluationError';
}

export type Values = (focus: unknown, variables: Variables) => readonly unknown[];

/** FHIRPath has three truth values; undefined is its empty collection. */
export type Truth = (focus: unknown, variables: Variables) => boolean | undefined;

/** One alternative of an expression: the values of one type. */
export interface Branch {
  /** Undefined for System values: literals, counts, answers. */
  readonly type: string | undefined;
  readonly values: Values;
}

/** An expression as closures over plain JSON. */
export interface Compiled {
  readonly branches: readonly Branch[];
  /** Present for a question; `branches` then hold its answer. */
  readonly truth?: Truth;
  /** Whether there is any value: cheaper than to collect them. */
  readonly exists?: (focus: unknown, variables: Variables) => boolean;
}

/** A primitive that has no value, only its `_member` with extensions: it exists, and equals nothing. */
export class ValueLess {
  constructor(readonly element: unknown) {}
}

const NONE: readonly unknown[] = [];

export function question(truth: Truth): Compiled {
  const values: Values = (focus, variables) => {
    const answer = truth(focus, variables);
    return answer === undefined ? NONE : [answer];
  };
  return { branches: [{ type: undefined, values }], truth };
}

export function valuesOf({ branches }: Compiled): Values {
  const [first, ...others] = branches;
  if (first === undefined) return () => NONE;
  if (others.length === 0) return first.values;
  return (focus, variables) => branches.flatMap(({ values }) => values(focus, variables));
}

export function existsOf(compiled: Compiled): (focus: unknown, variables: Variables) => boolean {
  if (compiled.exists !== undefined) return compiled.exists;
  const values = valuesOf(compiled);
  return (focus, variables) => values(focus, variables).length > 0;
}

/** @throws EvaluationError for several values where FHIRPath wants one, when errors are asked for */
export function assertSingle(values: readonly unknown[], { isStrict }: Variables): void {
  if (isStrict === true && values.length > 1)
    throw new EvaluationError(`one value is expected, there are ${values.length}`);
}

/** @throws EvaluationError for values of types that do not go together, when errors are asked for */
export function assertFitting(isFitting: boolean, { isStrict }: Variables): void {
  if (isStrict === true && !isFitting) throw new EvaluationError('the values are of types that do not go together');
}

/** As an operand of `and`, `or`, `not()`: one value that is no boolean counts as true (singleton evaluation). */
export function truthOf(compiled: Compiled): Truth {
  if (compiled.truth !== undefined) return compiled.truth;
  const values = valuesOf(compiled);
  return (focus, variables) => {
    const found = values(focus, variables);
    assertSingle(found, variables);
    if (found.length !== 1 || found[0] instanceof ValueLess) return undefined;
    return typeof found[0] === 'boolean' ? found[0] : true;
  };
}

/** The only type of the values, or undefined for System values. */
export function typeOf({ branches }: Compiled): string | undefined {
  const types = new Set(branches.map(({ type }) => type));
  if (types.size > 1) throw new ExpressionError('values of several types are not compared');
  return branches[0]?.type;
}

/** The branches that are of `type`; a resource of any type tells its own. */
export function ofType({ branches }: Compiled, type: string): Compiled {
  return {
    branches: branches.flatMap((branch) => {
      if (branch.type === undefined) throw new ExpressionError('the type of a System value is not asked');
      if (isSubtype(branch.type, type)) return [branch];
      if (!isSubtype(type, branch.type) || branch.type === type) return [];
      if (!isSubtype(type, 'Resource')) throw new ExpressionError(`${branch.type} is not narrowed to ${type}`);
      const values: Values = (focus, variables) =>
        branch.values(focus, variables).filter((value) => isObject(value) && value.resourceType === type);
      return [{ type, values }];
    }),
  };
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ValueLess);
}
