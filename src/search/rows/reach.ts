import { type ServiceError } from '../../platform/errors/service-error';
import { changedEach, joined, withNested } from '../query/nested-clauses';
import { type SearchClause } from '../query/search-query';
import { valueSetNotStored } from '../query/value-set-refusals';
import { isEveryRow, RowLimit } from './row-limit';

/** The rows of each type that a caller may search. */
export interface SearchRights {
  /** The row filter of `type`; undefined if no policy grants a search of the type. */
  rowsOf(type: string): Promise<SearchClause | undefined>;
  /** The error for a search that leads to `types`, which the caller may not search. */
  refusalOf(types: readonly string[]): Promise<ServiceError>;
}

/** The rights of the caller to search some types. */
export interface ReachedTypes {
  readonly hidden: readonly string[];
  /** Row filter for the other types; undefined if all their rows are visible. */
  readonly limit: RowLimit | undefined;
}

/**
 * The rows that one search may show. For the searched type, these are the rows granted to the request. For a type
 * reached by links, these are the rows that a search of that type would be granted. So a grant for one type opens no
 * other type.
 */
export class Reach {
  private readonly known = new Map<string, SearchClause | undefined>();

  /** @param rows rows granted to the request itself; undefined if all rows are granted */
  constructor(
    readonly rows: RowLimit | undefined,
    private readonly rights: SearchRights,
  ) {}

  /**
   * Whether rows of the searched type or of a linked type are hidden from the caller: by row criteria, or because the
   * caller may search the type only with some parameters, or in some compartment. Then no query plan is shown, since it
   * would count hidden rows.
   */
  async isLimited(type: string): Promise<boolean> {
    await this.rowsOf(type);
    return (
      this.rows !== undefined || [...this.known.values()].some((clause) => clause === undefined || !isEveryRow(clause))
    );
  }

  /**
   * Restricts a search, and the rows to which its links lead, to the rights of the caller.
   * @throws ServiceError 'forbidden' naming types that the caller may not search; 'invalid' for a value set that the
   *   caller may not read, as if it were not stored
   */
  async narrow(type: string, clauses: readonly SearchClause[]): Promise<readonly SearchClause[]> {
    const hidden = new Set<string>();
    const narrowed = await changedEach(clauses, (clause) => this.within(clause, hidden));
    if (hidden.size > 0) throw await this.rights.refusalOf([...hidden]);
    return this.rows === undefined ? narrowed : [...narrowed, this.rows.clauseOf(type)];
  }

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

  /**
   * Adds the caller's row filters to one clause.
   * @param hidden collects types that the caller may not search
   */
  private async within(clause: SearchClause, hidden: Set<string>): Promise<SearchClause> {
    switch (clause.kind) {
      case 'chain':
      case 'has': {
        const inner = await this.within(clause.clause, hidden);
        return { ...clause, clause: await this.visible(clause.type, inner, hidden) };
      }
      case 'value-set':
        // The matches would reveal the codes of the value set, so the caller must be allowed to see all ValueSet rows.
        if ((await this.visible('ValueSet', clause, hidden)) === clause) return clause;
        throw valueSetNotStored(clause.url);
      case 'all':
      case 'any':
      case 'not':
        return withNested(clause, (inner) => this.within(inner, hidden));
      // These kinds test only the row itself. The list is exhaustive, so that no new kind is forgotten.
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

  /** Adds the caller's row filter for the type. Returns the same clause if the caller may see all rows. */
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
