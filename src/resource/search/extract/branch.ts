/** What an expression may look at beside the value at hand. */
export class Scope {
  private containedTypes: ReadonlyMap<unknown, unknown> | undefined;

  /** @param baseUrl the server's own base, without a trailing slash */
  constructor(
    readonly resource: Readonly<Record<string, unknown>>,
    readonly baseUrl: string,
  ) {}

  /** The type of a contained resource. They are listed once, for a hostile body may hold and name them by the thousand. */
  containedType(id: string): unknown {
    this.containedTypes ??= this.listContained();
    return this.containedTypes.get(id);
  }

  private listContained(): ReadonlyMap<unknown, unknown> {
    const { contained } = this.resource;
    const resources = Array.isArray(contained) ? contained.filter(isObject) : [];
    return new Map(resources.map(({ id, resourceType }) => [id, resourceType]));
  }
}

export type Visit<S extends Scope> = (value: unknown, scope: S) => void;

/**
 * One way from the resource to values of one type. An expression compiles to several where it is a union or passes through a
 * choice element: `Observation.value` has eleven, `valueQuantity` is one of them.
 */
export interface Branch {
  readonly steps: readonly Step[];
  /** The type of the values; undefined in types without element tables, the server's own. */
  readonly type: string | undefined;
}

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
  readonly walk: <S extends Scope>(next: Visit<S>) => Visit<S>;
}

/** Runs the steps and hands each value that they reach to `next`. */
export function walkSteps<S extends Scope>(steps: readonly Step[], next: Visit<S>): Visit<S> {
  return steps.reduceRight((visit, step) => step.walk(visit), next);
}

/** Hands a JSON member to `visit`: each item of an array, nothing for null. */
export function visitEach<S extends Scope>(value: unknown, visit: Visit<S>, scope: S): void {
  if (value === undefined || value === null) return;
  if (!Array.isArray(value)) {
    visit(value, scope);
    return;
  }
  for (const item of value as unknown[]) if (item !== null) visit(item, scope);
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
