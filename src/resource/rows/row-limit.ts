import { type Binder } from '../search/compile/binder';
import { Predicates, type RowAlias } from '../search/compile/predicate';
import { type SearchClause } from '../search/search-query';
import { valueSetNotStored } from '../search/value-set-codes';

/** Resources of one type that a caller may touch: those that all clauses hold for, every one where there are none. */
export interface RowCriterion {
  readonly type: string;
  readonly clauses: readonly SearchClause[];
}

/** The row of `resource` that tests of a limit are about. */
const ROW: RowAlias = { name: 'c', isResource: true };

/**
 * The resources that a caller may touch who is limited to some, as clauses of searches: the one place that says what row
 * criteria mean. Of a type without a criterion there are none.
 */
export class RowLimit {
  private readonly clauses = new Map<string, SearchClause>();

  /** @param criteria resolved, of which one must hold */
  constructor(criteria: readonly RowCriterion[]) {
    for (const type of new Set(criteria.map((criterion) => criterion.type))) {
      const alternatives = criteria.filter((criterion) => criterion.type === type).map(({ clauses }) => allOf(clauses));
      this.clauses.set(type, anyOf(alternatives));
    }
  }

  /** Types of which there may be rows. */
  get types(): readonly string[] {
    return [...this.clauses.keys()];
  }

  /** What must hold for a resource of `type`. */
  clauseOf(type: string): SearchClause {
    return this.clauses.get(type) ?? NO_ROW;
  }

  /**
   * A search as the caller may see it: its matches, and whatever chains, `_has` and lists lead through.
   * @throws ServiceError 'invalid' for a value set that the caller may not read, as if it were not stored
   */
  narrow(type: string, clauses: readonly SearchClause[]): readonly SearchClause[] {
    return [...clauses.map((clause) => this.within(clause)), this.clauseOf(type)];
  }

  /** Boolean SQL on alias `c`, a row of `resource` of one of `types`. */
  test(types: readonly string[], bind: Binder): string {
    const [only, ...others] = types;
    return only !== undefined && others.length === 0
      ? new Predicates(bind).of(this.clauseOf(only), ROW)
      : this.testOfAny(bind, types);
  }

  /** Boolean SQL on alias `c`, a row of `resource` of any type: only rows of `types` pass. */
  testOfAny(bind: Binder, types = this.types): string {
    const predicates = new Predicates(bind);
    const cases = types
      .filter((type) => this.clauses.has(type))
      .map((type) => `when ${bind.value(type)} then ${predicates.of(this.clauseOf(type), ROW)}`);
    return cases.length === 0 ? 'false' : `case c.type ${cases.join(' ')} else false end`;
  }

  /**
   * Boolean SQL on alias `v`, a row with type and id: whether what is stored under them now may be read.
   * @param types of `v`; undefined: any
   */
  testOfCurrent(types: readonly string[] | undefined, bind: Binder): string {
    const test = types === undefined ? this.testOfAny(bind) : this.test(types, bind);
    return `(select true from resource c where c.type = v.type and c.id = v.id and ${test} limit 1) is true`;
  }

  private within(clause: SearchClause): SearchClause {
    switch (clause.kind) {
      case 'chain':
      case 'has':
        return { ...clause, clause: this.visible(clause.type, this.within(clause.clause)) };
      case 'list': {
        const { listId, parameterId } = clause;
        if (isEveryRow(this.clauseOf('List'))) return clause;
        const list: SearchClause = { kind: 'id', ids: [listId] };
        const visible = this.visible('List', list);
        return { kind: 'has', type: 'List', parameterIds: [parameterId], clause: visible, isByPatient: false };
      }
      case 'value-set':
        // Its codes can be told from what is found by them.
        if (isEveryRow(this.clauseOf('ValueSet'))) return clause;
        throw valueSetNotStored(clause.url);
      case 'all':
      case 'any':
        return { ...clause, clauses: clause.clauses.map((one) => this.within(one)) };
      case 'not':
        return { ...clause, clause: this.within(clause.clause) };
      // What is asked of the row itself. Every kind stands here: one that leads to other rows must not be forgotten.
      case 'id':
      case 'updated':
      case 'created':
      case 'token':
      case 'reference':
      case 'string':
      case 'date':
      case 'number':
      case 'quantity':
      case 'near':
      case 'presence':
      case 'body':
      case 'words':
      case 'path':
        return clause;
    }
  }

  private visible(type: string, clause: SearchClause): SearchClause {
    const limit = this.clauseOf(type);
    return isEveryRow(limit) ? clause : { kind: 'all', clauses: [clause, limit] };
  }
}

const NO_ROW: SearchClause = { kind: 'any', clauses: [] };
const EVERY_ROW: SearchClause = { kind: 'all', clauses: [] };

const isEveryRow = (clause: SearchClause): boolean => clause.kind === 'all' && clause.clauses.length === 0;

function allOf(clauses: readonly SearchClause[]): SearchClause {
  const [only, ...others] = clauses;
  return only !== undefined && others.length === 0 ? only : { kind: 'all', clauses };
}

function anyOf(alternatives: readonly SearchClause[]): SearchClause {
  if (alternatives.some(isEveryRow)) return EVERY_ROW;
  const [only, ...others] = alternatives;
  return only !== undefined && others.length === 0 ? only : { kind: 'any', clauses: alternatives };
}
