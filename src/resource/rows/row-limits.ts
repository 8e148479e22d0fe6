import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { type GrantedRows } from '../../platform/request/granted-rows';
import { RequestContext } from '../../platform/request/request-context';
import { EntryAccesses } from '../access/entry-access.registry';
import { ClauseResolver } from '../../search/run/clause-resolver';
import { type SearchClause } from '../../search/query/search-query';
import { Reach, type ReachedTypes, type SearchRights } from '../../search/rows/reach';
import { RowCriteria, typeOfCriterion } from '../../search/rows/row-criteria';
import { EVERY_ROW, eitherRows, NO_ROW, type RowCriterion, RowLimit } from '../../search/rows/row-limit';
import { RowCheck } from './row-check';
import { type ResourceName } from '../../model/stored-resource';

/** Turns the rows that policies grant into limits of searches, reads and writes. */
@Injectable()
export class RowLimits implements SearchRights {
  constructor(
    private readonly criteria: RowCriteria,
    private readonly resolver: ClauseResolver,
    private readonly access: EntryAccesses,
    private readonly check: RowCheck,
    private readonly requests: RequestContext,
  ) {}

  /** The limit of the present request; undefined if the caller may access all rows. */
  current(): Promise<RowLimit | undefined> {
    return this.of(this.requests.rows);
  }

  /** The limit for granted rows; undefined if these are all rows. */
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
   * @param rows rows granted for the searched type
   */
  async reach(rows: GrantedRows = this.requests.rows): Promise<Reach> {
    return new Reach(await this.of(rows), this);
  }

  /**
   * The types of a compartment, with the rows that the present request may show. A type is shown if a policy grants the
   * whole request, or if the caller may search the type. Only rows that meet the criteria of these policies are shown.
   * A request fails because of an incomplete index only if it shows the type of that index.
   * @param owner the resource that owns the compartment; its body decides whether it may be read
   * @param shown types that the request shows; undefined means all
   */
  async ofCompartment(
    owner: ResourceName,
    types: Iterable<string>,
    shown?: ReadonlySet<string>,
  ): Promise<ReachedTypes> {
    const clauseOf = async (limit: RowLimit, type: string): Promise<SearchClause> => {
      if (shown === undefined || shown.has(type)) return limit.clauseOf(type);
      if (type === owner.type) return (await this.check.refreshed(limit, [owner])).clauseOf(type);
      return limit.isUnfinished(type) ? NO_ROW : limit.clauseOf(type);
    };
    const rows = await this.access.decider.openedRows();
    const opened = rows === undefined ? undefined : ((await this.of(rows)) ?? 'all');
    if (opened === 'all') return { hidden: [], limit: undefined };
    const rowsOf = async (type: string): Promise<SearchClause | undefined> => {
      const searched = await this.searched(type, clauseOf);
      if (opened === undefined) return searched;
      const own = await clauseOf(opened, type);
      // Usually both limits come from the same policies. Then each row is tested only once.
      return searched === undefined || isDeepStrictEqual(own, searched) ? own : eitherRows([own, searched]);
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
    const rows = await this.access.decider.searchedRows(type);
    if (rows === undefined) return undefined;
    // A compartment has some 70 types, so only criteria of this type are parsed.
    const ofType = rows === 'all' ? rows : rows.filter((criterion) => typeOfCriterion(criterion) === type);
    const limit = await this.of(ofType);
    return limit === undefined ? EVERY_ROW : clauseOf(limit, type);
  }

  refusalOf(types: readonly string[]): ReturnType<SearchRights['refusalOf']> {
    return this.access.decider.refusalOfSearch(types);
  }
}
