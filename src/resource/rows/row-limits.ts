import { Injectable } from '@nestjs/common';
import { type GrantedRows } from '../../platform/http/granted-rows';
import { RequestContext } from '../../platform/http/request-context';
import { ClauseResolver } from '../search/clause-resolver';
import { RowCriteria } from './row-criteria';
import { type RowCriterion, RowLimit } from './row-limit';

/** Turns what policies grant into limits of searches, reads and writes. */
@Injectable()
export class RowLimits {
  constructor(
    private readonly criteria: RowCriteria,
    private readonly resolver: ClauseResolver,
    private readonly requests: RequestContext,
  ) {}

  /** That of the present request; undefined where nothing is limited. */
  current(): Promise<RowLimit | undefined> {
    return this.of(this.requests.rows);
  }

  /** Undefined where nothing is limited. @throws ServiceError 'busy' while the index of a criterion is being built */
  async of(rows: GrantedRows): Promise<RowLimit | undefined> {
    if (rows === 'all') return undefined;
    const criteria: RowCriterion[] = [];
    for (const text of rows) {
      const { type, clauses } = await this.criteria.read(text);
      criteria.push({ type, clauses: await this.resolver.resolveAll(clauses) });
    }
    return new RowLimit(criteria);
  }
}
