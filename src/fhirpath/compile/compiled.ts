import { ExpressionError, NotCompiled } from '../syntax/expression';
import { comparisonKindOf, type Kind, plain } from './values';

/** The values of `%` names while an expression runs. */
export interface Variables {
  readonly resource: unknown;
  readonly rootResource?: unknown;
  readonly context?: unknown;
  /** Versions of a resource, where the expression is about a change; absent where there is none. */
  readonly current?: unknown;
  readonly previous?: unknown;
  /** The type that a reference names as its target, without reading it. */
  readonly typeOfTarget?: (reference: unknown) => unknown;
}

/** FHIRPath has no answer for these values, such as one of several where there should be one. */
export class EvaluationError extends Error {
  override readonly name = 'EvaluationError';
}

export type Visit<V extends Variables = Variables> = (value: unknown, variables: V) => void;

export type Values = (focus: unknown, variables: Variables) => readonly unknown[];

/** FHIRPath has three truth values; undefined is its empty collection. */
export type Truth = (focus: unknown, variables: Variables) => boolean | undefined;

/** One step of a branch. Steps with equal texts do the same. */
export interface Step {
  readonly text: string;
  /** The JSON member, when the step goes down to one. */
  readonly member?: string;
  /** Whether the step can turn one value into several. */
  readonly isRepeated: boolean;
  /** The same step in the JSON path language of PostgreSQL, lax mode; undefined where it has no word for it. */
  readonly jsonPath?: string;
  /** The type T of `where(resolve() is T)`. */
  readonly resolvesTo?: string;
  /** Present where the step computes a whole collection instead of following one value. */
  readonly values?: Values;
  readonly walk: <V extends Variables>(next: Visit<V>) => Visit<V>;
}

/**
 * One way from the focus to values of one type. An expression has several where it is a union or passes through a choice
 * element: `Observation.value` has eleven, `valueQuantity` is one of them.
 */
export interface Branch {
  readonly steps: readonly Step[];
  /** Of R4, or `System.Integer` and the like; undefined where no table knows it. */
  readonly type: string | undefined;
}

/** An expression as closures over plain JSON. */
export interface Compiled {
  readonly branches: readonly Branch[];
  /** Present for a question; `branches` then hold its answer. */
  readonly truth?: Truth;
  /** Whether there is any value: cheaper than to collect them. */
  readonly exists?: (focus: unknown, variables: Variables) => boolean;
}

const NONE: readonly unknown[] = [];

/** Runs the steps and hands each value that they reach to `next`. */
export function walkSteps<V extends Variables>(steps: readonly Step[], next: Visit<V>): Visit<V> {
  return steps.reduceRight((visit, step) => step.walk(visit), next);
}

/** A collection that is computed as a whole: a literal, an answer, the first of some values. */
export function computed(type: string | undefined, values: Values): Compiled {
  return { branches: [computedBranch(type, values)] };
}

export function computedBranch(type: string | undefined, values: Values): Branch {
  const step: Step = {
    text: '',
    isRepeated: true,
    values,
    walk: (next) => (focus, variables) => {
      for (const value of values(focus, variables)) next(value, variables);
    },
  };
  return { type, steps: [step] };
}

export function question(truth: Truth): Compiled {
  const values: Values = (focus, variables) => {
    const answer = truth(focus, variables);
    return answer === undefined ? NONE : [answer];
  };
  return { ...computed('System.Boolean', values), truth };
}

export function evaluatorOf({ branches }: Compiled): Values {
  const [first, ...others] = branches;
  if (first === undefined) return () => NONE;
  if (others.length === 0) {
    const [step, ...more] = first.steps;
    if (step === undefined) return (focus) => [focus];
    if (more.length === 0 && step.values !== undefined) return step.values;
  }
  let found: unknown[] = [];
  const visits = branches.map(({ steps }) => walkSteps(steps, (value) => found.push(value)));
  return (focus, variables) => {
    found = [];
    for (const visit of visits) visit(focus, variables);
    return found;
  };
}

export function existsOf(compiled: Compiled): (focus: unknown, variables: Variables) => boolean {
  if (compiled.exists !== undefined) return compiled.exists;
  const values = evaluatorOf(compiled);
  return (focus, variables) => values(focus, variables).length > 0;
}

/** @throws EvaluationError for several values where FHIRPath wants one */
export function assertSingle(values: readonly unknown[]): void {
  if (values.length > 1) throw new EvaluationError(`one value is expected, there are ${values.length}`);
}

/** The one kind of all values, of those that are asked for. @throws NotCompiled for others */
export function assertKind(compiled: Compiled, ...kinds: readonly Kind[]): void {
  const found = compiled.branches.find(({ type }) => !kinds.includes(comparisonKindOf(type)));
  if (found !== undefined) throw new NotCompiled(`values of type ${found.type} are left to the library there`);
}

/** As an operand of `and`, `or`, `not()`: one value that is no boolean counts as true (singleton evaluation). */
export function truthOf(compiled: Compiled): Truth {
  if (compiled.truth !== undefined) return compiled.truth;
  const values = evaluatorOf(compiled);
  return (focus, variables) => {
    const found = values(focus, variables);
    if (found.length === 0) return undefined;
    assertSingle(found);
    const value = plain(found[0]);
    return value === undefined || typeof value === 'boolean' ? value : true;
  };
}

/** The only type of the values. @throws NotCompiled for several */
export function commonTypeOf({ branches }: Compiled): string | undefined {
  const [first, ...others] = branches;
  if (others.some(({ type }) => type !== first?.type)) throw new NotCompiled('values of several types stand together');
  return first?.type;
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
