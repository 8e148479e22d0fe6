import { type ServiceError } from '../../platform/errors/service-error';
import { joined } from '../query/nested-clauses';
import { type SearchClause } from '../query/search-query';
import { valueSetNotStored } from '../query/value-set-refusals';
import { isEveryRow, RowLimit } from './row-limit';

/** Which rows of each type a caller may search. */
export interface SearchRights {
  /** What must hold for a row of `type`; undefined where no policy grants a search of the type. */
  rowsOf(type: string): Promise<SearchClause | undefined>;
  /** The refusal of what leads to types that the caller may not search. */
  refusalOf(types: readonly string[]): Promise<ServiceError>;
}

/** Types as far as the caller may search them. */
export interface ReachedTypes {
  /** Types that no policy lets the caller search. */
  readonly hidden: readonly string[];
  /** Narrows rows of the types to those that may be seen; undefined where all of them may. */
  readonly limit: RowLimit | undefined;
}

/**
 * What one search may show: rows of the type that it is for, as the request is granted, and rows of the types that it leads
 * to, as searches of these types would be granted. So a grant for one type opens no other.
 */
export class Reach {
  private readonly known = new Map<string, SearchClause | undefined>();

  /** @param rows what the request itself is granted; undefined: all rows */
  constructor(
    readonly rows: RowLimit | undefined,
    private readonly rights: SearchRights,
  ) {}

  /** Whether rows are hidden, of the type itself or of one that clauses have led to: plans would count them. */
  get isLimited(): boolean {
    return (
      this.rows !== undefined || [...this.known.values()].some((clause) => clause !== undefined && !isEveryRow(clause))
    );
  }

  /**
   * A search as the caller may see it: its matches, and the rows that chains, `_has` and lists lead through.
   * @throws ServiceError 'forbidden' naming the types that the caller may not search; 'invalid' for a value set that he may not
   * read, as if it were not stored
   */
  async narrow(type: string, clauses: readonly SearchClause[]): Promise<readonly SearchClause[]> {
    const hidden = new Set<string>();
    const narrowed = await this.withinEach(clauses, hidden);
    if (hidden.size > 0) throw await this.rights.refusalOf([...hidden]);
    return this.rows === undefined ? narrowed : [...narrowed, this.rows.clauseOf(type)];
  }

  /** Types that a search leads to by includes. */
  async ofTypes(types: Iterable<string>): Promise<ReachedTypes> {
    const visible = new Map<string, SearchClause>();
    const hidden: string[] = [];
    for (const type of new Set(types)) {
      const clause = await this.rowsOf(type);
      if (clause === undefined) hidden.push(type);
      else visible.set(type, clause);
    }
    const isWhole = hidden.length === 0 && [...visible.values()].every(isEveryRow);
    return { hidden, limit: isWhole ? undefined : new RowLimit(visible) };
  }

  private async withinEach(clauses: readonly SearchClause[], hidden: Set<string>): Promise<readonly SearchClause[]> {
    const narrowed: SearchClause[] = [];
    for (const clause of clauses) narrowed.push(await this.within(clause, hidden));
    return narrowed;
  }

  /** @param hidden takes down the types that may not be searched */
  private async within(clause: SearchClause, hidden: Set<string>): Promise<SearchClause> {
    switch (clause.kind) {
      case 'chain':
      case 'has': {
        const inner = await this.within(clause.clause, hidden);
        return { ...clause, clause: await this.visible(clause.type, inner, hidden) };
      }
      case 'list': {
        const { listId, parameterId } = clause;
        const list: SearchClause = { kind: 'id', ids: [listId] };
        const visible = await this.visible('List', list, hidden);
        if (visible === list) return clause;
        return { kind: 'has', type: 'List', parameterIds: [parameterId], clause: visible, isByPatient: false };
      }
      case 'value-set':
        // Its codes can be told from what is found by them.
        if ((await this.visible('ValueSet', clause, hidden)) === clause) return clause;
        throw valueSetNotStored(clause.url);
      case 'all':
      case 'any':
        return { ...clause, clauses: await this.withinEach(clause.clauses, hidden) };
      case 'not':
        return { ...clause, clause: await this.within(clause.clause, hidden) };
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

  /** The same clause where all rows of the type may be seen. */
  private async visible(type: string, clause: SearchClause, hidden: Set<string>): Promise<SearchClause> {
    const rows = await this.rowsOf(type);
    if (rows === undefined) hidden.add(type);
    return rows === undefined || isEveryRow(rows) ? clause : joined('all', [clause, rows]);
  }

  private async rowsOf(type: string): Promise<SearchClause | undefined> {
    if (!this.known.has(type)) this.known.set(type, await this.rights.rowsOf(type));
    return this.known.get(type);
  }
}
