import { Injectable } from '@nestjs/common';
import { earliestInstant, latestInstant } from '../../fhir/instant';
import { Statements } from '../../platform/database/statements';
import { ServiceError } from '../../platform/errors/service-error';
import { type TextRow, resourceTextOf } from '../store/resource-row';
import { type ResourceText } from '../stored-resource';
import { compilePage, compileTotal } from './compile-search';
import { type TotalMode } from './result-parameters';
import { type PagePosition, type SearchClause } from './search-query';

export interface SearchRequest {
  readonly type: string;
  readonly clauses: readonly SearchClause[];
  readonly count: number;
  readonly after?: PagePosition;
  readonly total: TotalMode;
}

export interface SearchPage {
  readonly resources: readonly ResourceText[];
  /** Absent when nobody asked for it. */
  readonly total?: number;
  /** Where the next page begins; absent on the last page. */
  readonly next?: PagePosition;
}

interface PageRow extends TextRow {
  readonly main_date: Date;
  readonly resource_key: number;
}

/** Finds resources by their search rows. */
@Injectable()
export class ResourceSearch {
  constructor(private readonly statements: Statements) {}

  async search(request: SearchRequest): Promise<SearchPage> {
    const { statement, values } = compilePage(request);
    const rows = request.count === 0 ? [] : await this.statements.run<PageRow>(statement, values);
    const page = rows.slice(0, request.count);
    const last = rows.length > request.count ? page.at(-1) : undefined;
    const total = await this.total(request, page.length, last === undefined);
    return {
      resources: page.map(resourceTextOf),
      ...(total === undefined ? {} : { total }),
      ...(last === undefined ? {} : { next: { mainDate: last.main_date.getTime(), key: last.resource_key } }),
    };
  }

  private async total(request: SearchRequest, found: number, isLastPage: boolean): Promise<number | undefined> {
    // Most answers fit on one page: then the count is known without another statement.
    if (request.after === undefined && isLastPage && request.count > 0) return found;
    if (request.total === 'none' && request.count > 0) return undefined;
    const { statement, values } = compileTotal(request);
    return (await this.statements.runOne<{ total: number }>(statement, values))?.total ?? 0;
  }
}

/** The text of a position in a link; opaque to clients. */
export const printPosition = ({ mainDate, key }: PagePosition): string =>
  `${mainDate.toString(36)}.${key.toString(36)}`;

/** @throws ServiceError 'invalid' for a text that this server did not make. */
export function parsePosition(text: string): PagePosition {
  const [, mainDate = '', key = ''] = /^(-?[0-9a-z]{1,11})\.([0-9a-z]{1,11})$/.exec(text) ?? [];
  const position = { mainDate: parseInt(mainDate, 36), key: parseInt(key, 36) };
  const isDate = position.mainDate >= earliestInstant && position.mainDate <= latestInstant;
  if (!Number.isSafeInteger(position.key) || !isDate) {
    throw new ServiceError(
      'invalid',
      '_after is made by the server for its next links; begin again at the first page.',
    );
  }
  return position;
}
