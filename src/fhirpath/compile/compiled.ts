import { ExpressionError, NotCompiled } from '../syntax/expression';
import { comparisonKindOf, type Kind, plain } from './values';

/** The values of `%` variables during an evaluation. */
export interface Variables {
  readonly resource: unknown;
  readonly rootResource?: unknown;
  readonly context?: unknown;
  /** Versions of a resource, for expressions about a change; otherwise absent. */
  readonly current?: unknown;
  readonly previous?: unknown;
  /** The target type named by a reference, without reading the target. */
  readonly typeOfTarget?: (reference: unknown) => unknown;
}

/** FHIRPath defines no result for these values, such as several values instead of one. */
export class EvaluationError extends Error {
  override readonly name = 'EvaluationError';
}

export type Visit<V extends Variables = Variables> = (value: unknown, variables: V) => void;

export type Values = (focus: unknown, variables: Variables) => readonly unknown[];

/** FHIRPath has three truth values; undefined is the empty collection. */
export type Truth = (focus: unknown, variables: Variables) => boolean | undefined;

/** One step of a branch. Steps with equal texts do the same. */
export interface Step {
  readonly text: string;
  /** The JSON member, if the step goes down to one. */
  readonly member?: string;
  /** Whether the step can turn one value into several. */
  readonly isRepeated: boolean;
  /** The same step in PostgreSQL's JSON path language, lax mode; undefined if that cannot express it. */
  readonly jsonPath?: string;
  /** The type T of `where(resolve() is T)`. */
  readonly resolvesTo?: string;
  /** Set if the step computes a whole collection instead of following one value. */
  readonly values?: Values;
  readonly walk: <V extends Variables>(next: Visit<V>) => Visit<V>;
}

/**
 * One path from the focus to values of one type. An expression has several if it is a union or goes through a choice
 * element: `Observation.value` has eleven, one of them `valueQuantity`.
 */
export interface Branch {
  readonly steps: readonly Step[];
  /** An R4 type, or `System.Integer` and the like; undefined if no table has it. */
  readonly type: string | undefined;
}

/** An expression as closures over plain JSON. */
export interface Compiled {
  readonly branches: readonly Branch[];
  /** Set for a boolean expression; `branches` then hold its result. */
  readonly truth?: Truth;
  /** Whether there is any value; cheaper than collecting them. */
  readonly exists?: (focus: unknown, variables: Variables) => boolean;
}

const NONE: readonly unknown[] = [];

/** Runs the steps and passes each value that they reach to `next`. */
export function walkSteps<V extends Variables>(steps: readonly Step[], next: Visit<V>): Visit<V> {
  return steps.reduceRight((visit, step) => step.walk(visit), next);
}

/** A collection that is computed as a whole: a literal, a result, the first of some values. */
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

/** @throws EvaluationError for several values if FHIRPath requires one */
export function assertSingle(values: readonly unknown[]): void {
  if (values.length > 1) throw new EvaluationError(`one value is expected, there are ${values.length}`);
}

/** The common kind of all values, one of `kinds`. @throws NotCompiled for others */
export function assertKind(compiled: Compiled, ...kinds: readonly Kind[]): void {
  const found = compiled.branches.find(({ type }) => !kinds.includes(comparisonKindOf(type)));
  if (found !== undefined) throw new NotCompiled(`values of type ${found.type} are left to the library there`);
}

/** As an operand of `and`, `or`, `not()`: a single value that is no boolean counts as true (singleton evaluation). */
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

/** The common type of the values. @throws NotCompiled if there are several */
export function commonTypeOf({ branches }: Compiled): string | undefined {
  const [first, ...others] = branches;
  if (others.some(({ type }) => type !== first?.type)) throw new NotCompiled('values of several types are mixed');
  return first?.type;
}

/**
 * Maximum number of elements that one compilation may reach: each `extension.value` multiplies them by fifty, even
 * inside `where()`.
 */
export class CompilationBudget {
  private left = 2000;

  /** @throws ExpressionError if the expression reaches too many elements */
  spend(elements: number): void {
    this.left -= elements;
    if (this.left < 0) throw new ExpressionError('it leads to too many elements at once');
  }
}
