import { ExpressionError, NotCompiled } from '../syntax/expression';
import { comparisonKindOf, type Kind, plain } from './values';

/** The values of `%` variables during an evaluation. */
export interface Variables {
  readonly resource: unknown;
  readonly rootResource?: unknown;
  readonly context?: unknown;
  /** The versions of a resource, for expressions about a change; absent for others. */
  readonly current?: unknown;
  readonly previous?: unknown;
  /** Returns the type that a reference names for its target. It does not read the target. */
  readonly typeOfTarget?: (reference: unknown) => unknown;
}

/** The error for values for which FHIRPath defines no result, such as several values instead of one. */
export class EvaluationError extends Error {
  override readonly name = 'EvaluationError';
}

export type Visit<V extends Variables = Variables> = (value: unknown, variables: V) => void;

export type Values = (focus: unknown, variables: Variables) => readonly unknown[];

/** A boolean result. FHIRPath has three truth values; undefined is the empty collection. */
export type Truth = (focus: unknown, variables: Variables) => boolean | undefined;

/** One step of a path. Steps with equal texts reach the same values. */
export interface Step {
  readonly text: string;
  /** The JSON member to which the step leads, if any. */
  readonly member?: string;
  /** Whether the step can lead from one value to several. */
  readonly isRepeated: boolean;
  /** The same step in PostgreSQL's JSON path language, lax mode; undefined if that language cannot express it. */
  readonly jsonPath?: string;
  /** The type T, if the step is `where(resolve() is T)`. */
  readonly resolvesTo?: string;
  /**
   * Computes the whole collection at once. It is set only for a step that cannot handle values one by one, such as
   * `[0]`.
   */
  readonly values?: Values;
  readonly walk: <V extends Variables>(next: Visit<V>) => Visit<V>;
}

/** One path from the focus to values of one type. A union or a choice has several: `Observation.value` has eleven. */
export interface Branch {
  readonly steps: readonly Step[];
  /**
   * The type of the values: an R4 type, or a type such as `System.Integer`. Undefined if R4's lists of elements do not
   * contain the type.
   */
  readonly type: string | undefined;
}

/** An expression that was compiled to closures over plain JSON. */
export interface Compiled {
  readonly branches: readonly Branch[];
  /** Set for a boolean expression; `branches` then lead to its result. */
  readonly truth?: Truth;
  /** Whether there is any value. This costs less than collecting the values. */
  readonly exists?: (focus: unknown, variables: Variables) => boolean;
}

const NONE: readonly unknown[] = [];

/** Follows the steps, and passes each value that they reach to `next`. */
export function walkSteps<V extends Variables>(steps: readonly Step[], next: Visit<V>): Visit<V> {
  return steps.reduceRight((visit, step) => step.walk(visit), next);
}

/** An expression whose collection is computed as a whole: a literal, a result, or the first of some values. */
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

/** The function that collects the values of all paths. */
export function evaluatorOf({ branches }: Pick<Compiled, 'branches'>): Values {
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

/** @throws EvaluationError for several values, where FHIRPath requires one */
export function assertSingle(values: readonly unknown[]): void {
  if (values.length > 1) throw new EvaluationError(`one value is expected, there are ${values.length}`);
}

/** @throws NotCompiled for values of other kinds */
export function assertKind(compiled: Compiled, ...kinds: readonly Kind[]): void {
  const found = compiled.branches.find(({ type }) => !kinds.includes(comparisonKindOf(type)));
  if (found !== undefined) throw new NotCompiled(`values of type ${found.type} are left to the library there`);
}

/**
 * The truth of an operand of `and`, `or` or `not()`. A single value that is no boolean counts as true (singleton
 * evaluation).
 */
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

export function commonTypeOf({ branches }: Compiled): string | undefined {
  const [first, ...others] = branches;
  if (others.some(({ type }) => type !== first?.type)) throw new NotCompiled('values of several types are mixed');
  return first?.type;
}

/**
 * Counts the elements that one compilation reaches, up to a maximum. Each `extension.value` multiplies them by fifty,
 * even inside `where()`.
 */
export class CompilationBudget {
  private left = 2000;

  /** @throws ExpressionError if the expression reaches too many elements */
  spend(elements: number): void {
    this.left -= elements;
    if (this.left < 0) throw new ExpressionError('it leads to too many elements at once');
  }
}
