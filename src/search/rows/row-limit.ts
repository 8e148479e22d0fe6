import { type ServiceError } from '../../platform/errors/service-error';
import { type Binder } from '../../store/binder';
import { Predicates, type RowAlias } from '../compile/predicate';
import { eitherOf } from '../query/merged-alternatives';
import { joined } from '../query/nested-clauses';
import { type SearchClause } from '../query/search-query';

/**
 * The resources of one type that a caller may access: those that match all clauses. Without clauses these are all
 * resources of the type.
 */
export interface RowCriterion {
  readonly type: string;
  readonly clauses: readonly SearchClause[];
  /** Set if the index of a parameter in the criterion is still being built. */
  readonly unfinished?: UnfinishedCriterion | undefined;
}

/** The reason why index rows cannot decide a criterion: an index that it needs is still being built. */
export interface UnfinishedCriterion {
  readonly refusal: () => ServiceError;
  /** Whether the criterion tests other resources (a chain), so that the resource itself cannot decide it either. */
  readonly isOfOthers: boolean;
}

/** The row of `resource` to which the tests apply. */
const ROW: RowAlias = { name: 'c', isResource: true };

/**
 * The resources that a caller may access, as one search clause per type. This is the only place that defines the
 * meaning of row criteria (the searches by which policies grant resources). Of a type without a clause, no resource is
 * accessible.
 * While an index that a clause needs is being built, methods throw ServiceError 'busy', since index rows may match too
 * few or too many resources. To test single resources nevertheless, rebuild their index rows first, and then use the
 * limit that {@link afterRefresh} returns.
 */
export class RowLimit {
  constructor(
    private readonly clauses: ReadonlyMap<string, SearchClause>,
    private readonly unfinished: ReadonlyMap<string, UnfinishedCriterion> = new Map(),
  ) {}

  /** @param criteria resolved criteria, of which a resource must match one */
  static of(criteria: readonly RowCriterion[]): RowLimit {
    const types = new Set(criteria.map(({ type }) => type));
    return new RowLimit(
      new Map(
        [...types].map((type) => [
          type,
          eitherRows(criteria.filter((one) => one.type === type).map(({ clauses }) => joined('all', clauses))),
        ]),
      ),
      new Map([...unfinishedOf(criteria, false), ...unfinishedOf(criteria, true)]),
    );
  }

  /** Whether index rows cannot decide for resources of `type`, because an index is still being built. */
  isUnfinished(type: string): boolean {
    return this.unfinished.has(type);
  }

  /** Whether the test of one resource needs its index rows to be rebuilt from its body first. */
  needsRefresh(type: string): boolean {
    return this.unfinished.get(type)?.isOfOthers === false;
  }

  /** This limit, for resources whose index rows were just rebuilt from their bodies. */
  afterRefresh(): RowLimit {
    if (this.unfinished.size === 0) return this;
    return new RowLimit(this.clauses, new Map([...this.unfinished].filter(([, { isOfOthers }]) => isOfOthers)));
  }

  get types(): readonly string[] {
    return [...this.clauses.keys()];
  }

  clauseOf(type: string): SearchClause {
    const unfinished = this.unfinished.get(type);
    if (unfinished !== undefined) throw unfinished.refusal();
    return this.clauses.get(type) ?? NO_ROW;
  }

  /** Boolean SQL on alias `c`, a row of `resource` whose type is one of `types`. */
  test(types: readonly string[], bind: Binder): string {
    const [only, ...others] = types;
    return only !== undefined && others.length === 0
      ? new Predicates(bind).of(this.clauseOf(only), ROW)
      : this.testOfAny(bind, types);
  }

  /** Boolean SQL on alias `c`, a row of `resource` of any type. Only rows of `types` can pass. */
  testOfAny(bind: Binder, types = this.types): string {
    const predicates = new Predicates(bind);
    const whole = types.filter((type) => isEveryRow(this.clauseOf(type)));
    const isWhole = whole.length === 0 ? 'false' : `c.type = any(${bind.value(whole)}::text[])`;
    const cases = types
      .filter((type) => !isNoRow(this.clauseOf(type)) && !whole.includes(type))
      .map((type) => `when ${bind.value(type)} then ${predicates.of(this.clauseOf(type), ROW)}`);
    return cases.length === 0 ? `(${isWhole})` : `case c.type ${cases.join(' ')} else ${isWhole} end`;
  }

  /**
   * Boolean SQL on alias `v`, a row with type and id. It is true if the caller may read the resource that is now stored
   * under this type and id, which is one of `types`.
   */
  testOfCurrent(types: readonly string[], bind: Binder): string {
    return `(select true from resource c where c.type = v.type and c.id = v.id and ${this.test(types, bind)} limit 1) is true`;
  }
}

const unfinishedOf = (
  criteria: readonly RowCriterion[],
  isOfOthers: boolean,
): (readonly [type: string, UnfinishedCriterion])[] =>
  criteria.flatMap(({ type, unfinished }) =>
    unfinished?.isOfOthers === isOfOthers ? [[type, unfinished] as const] : [],
  );

export const NO_ROW: SearchClause = { kind: 'any', clauses: [] };
export const EVERY_ROW: SearchClause = { kind: 'all', clauses: [] };

const isNoRow = (clause: SearchClause): boolean => clause.kind === 'any' && clause.clauses.length === 0;

export const isEveryRow = (clause: SearchClause): boolean => clause.kind === 'all' && clause.clauses.length === 0;

/** Joins alternatives by OR. If one of them matches all rows, the others are dropped. */
export const eitherRows = (alternatives: readonly SearchClause[]): SearchClause =>
  alternatives.some(isEveryRow) ? EVERY_ROW : eitherOf(alternatives);
