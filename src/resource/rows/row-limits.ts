import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { type GrantedRows } from '../../platform/request/granted-rows';
import { RequestContext } from '../../platform/request/request-context';
import { EntryAccesses } from '../access/entry-access.registry';
import { ClauseResolver } from '../../search/run/clause-resolver';
import { type SearchClause } from '../../search/query/search-query';
import { Reach, type ReachedTypes, type SearchRights } from '../../search/rows/reach';
import { RowCriteria, typeOfCriterion } from '../../search/rows/row-criteria';
import { anyOf, EVERY_ROW, NO_ROW, type RowCriterion, RowLimit } from '../../search/rows/row-limit';
import { type NamedRow, RowCheck } from './row-check';

/** Turns the rows granted by policies into limits of searches, reads and writes. */
@Injectable()
export class RowLimits implements SearchRights {
  constructor(
    private readonly criteria: RowCriteria,
    private readonly resolver: ClauseResolver,
    private readonly access: EntryAccesses,
    private readonly check: RowCheck,
    private readonly requests: RequestContext,
  ) {}

  /** The limit of the present request; undefined if there is none. */
  current(): Promise<RowLimit | undefined> {
    return this.of(this.requests.rows);
  }

  /** Undefined if there is no limit. */
  async of(rows: GrantedRows): Promise<RowLimit | undefined> {
    if (rows === 'all') return undefined;
    const criteria: RowCriterion[] = [];
    const read = await this.criteria.reader();
    for (const text of rows) {
      const criterion = read(text);
      criteria.push({ ...criterion, clauses: await this.resolver.resolveAll(criterion.clauses) });
    }
    return RowLimit.of(criteria);
  }

  /**
   * The rows that a search of the present request may show.
   * @param rows granted for the searched type
   */
  async reach(rows: GrantedRows = this.requests.rows): Promise<Reach> {
    return new Reach(await this.of(rows), this);
  }

  /**
   * The types of a compartment as far as the present request may show them. These are types that a policy opens as a
   * whole, with its row criteria, and types that the caller may search. Incomplete indexes matter only for the shown
   * types.
   * @param owner of the compartment: one resource, decided by its body
   * @param shown undefined: all
   */
  async ofCompartment(owner: NamedRow, types: Iterable<string>, shown?: ReadonlySet<string>): Promise<ReachedTypes> {
    const clauseOf = async (limit: RowLimit, type: string): Promise<SearchClause> => {
      if (shown === undefined || shown.has(type)) return limit.clauseOf(type);
      if (type === owner.type) return (await this.check.refreshed(limit, [owner])).clauseOf(type);
      return limit.isUnfinished(type) ? NO_ROW : limit.clauseOf(type);
    };
    const rows = await this.access.openedRows();
    const opened = rows === undefined ? undefined : ((await this.of(rows)) ?? 'all');
    if (opened === 'all') return { hidden: [], limit: undefined };
    const rowsOf = async (type: string): Promise<SearchClause | undefined> => {
      const searched = await this.searched(type, clauseOf);
      if (opened === undefined) return searched;
      const own = await clauseOf(opened, type);
      // Usually both come from the same policies; do not test each row twice.
      return searched === undefined || isDeepStrictEqual(own, searched) ? own : anyOf([own, searched]);
    };
    return new Reach(undefined, { rowsOf, refusalOf: (hidden) => this.refusalOf(hidden) }).ofTypes(types);
  }

  rowsOf(type: string): Promise<SearchClause | undefined> {
    return this.searched(type, (limit) => limit.clauseOf(type));
  }

  private async searched(
    type: string,
    clauseOf: (limit: RowLimit, type: string) => SearchClause | Promise<SearchClause>,
  ): Promise<SearchClause | undefined> {
    const rows = await this.access.searchedRows(type);
    if (rows === undefined) return undefined;
    // A compartment has some 70 types, so only the criteria of this type are parsed.
    const ofType = rows === 'all' ? rows : rows.filter((criterion) => typeOfCriterion(criterion) === type);
    const limit = await this.of(ofType);
    return limit === undefined ? EVERY_ROW : clauseOf(limit, type);
  }

  refusalOf(types: readonly string[]): ReturnType<SearchRights['refusalOf']> {
    return this.access.refusalOfSearch(types);
  }
}
