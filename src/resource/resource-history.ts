import { Injectable } from '@nestjs/common';
import { Statements } from '../platform/database/statements';
import { notStored } from './not-stored';
import { ResourceReader } from './resource-reader';
import { GrantedReader } from './rows/granted-reader';
import { type VersionRow, storedVersionOf } from './store/resource-row';
import { type HistoryScope, type HistoryWalk, historyPage, historyTotal, READ_FEED } from './store/history-statements';
import { type RowLimit } from './rows/row-limit';
import { type StoredVersion } from './stored-resource';

export interface HistoryRequest {
  readonly scope: HistoryScope;
  readonly walk: Pick<HistoryWalk, 'direction' | 'from' | 'skip'>;
  /** Versions of a page; 0 asks for the total alone. */
  readonly count: number;
  readonly hasTotal: boolean;
}

export interface HistoryPage {
  /** Newest first, deletions included. */
  readonly versions: readonly StoredVersion[];
  /** Of all pages; absent when nobody asked. */
  readonly total?: number;
  /** Whether there are more in the direction of the walk. */
  readonly hasMore: boolean;
  /** Where the scope names a transaction: the one to name next, to hear of what this answer does not have. */
  readonly lastTransaction?: string;
}

interface FeedRow {
  readonly [column: string]: unknown;
  readonly last_transaction: string;
  readonly since: Date | null;
}

interface PageRow extends VersionRow {
  readonly total?: number;
}

/** Lists versions by the time they came to be: of one resource, of types, or of all. */
@Injectable()
export class ResourceHistory {
  constructor(
    private readonly statements: Statements,
    private readonly reader: ResourceReader,
    private readonly granted: GrantedReader,
  ) {}

  /** @throws ServiceError 'not-found' when the history is of one resource that never was. */
  async page({ scope: asked, walk, count, hasTotal }: HistoryRequest): Promise<HistoryPage> {
    const { scope, lastTransaction } = await this.withFeed(asked);
    const rows = count === 0 ? [] : await this.rows(scope, { ...walk, limit: count + 1 }, hasTotal);
    const total = rows[0]?.total ?? (hasTotal ? await this.total(scope) : undefined);
    if (rows.length === 0 && scope.id !== undefined) await this.assertWas(scope.types[0] ?? '', scope.id, scope.limit);
    const versions = rows.slice(0, count).map(versionOf);
    return {
      versions: walk.direction === 'older' ? versions : versions.reverse(),
      hasMore: rows.length > count,
      ...(total === undefined ? {} : { total }),
      ...(lastTransaction === undefined ? {} : { lastTransaction }),
    };
  }

  private async assertWas(type: string, id: string, limit: RowLimit | undefined): Promise<void> {
    if (limit === undefined) await this.reader.assertWas(type, id);
    else if ((await this.granted.findWithin(limit, type, id)) === undefined) throw notStored(type, id, false);
  }

  private async withFeed(scope: HistoryScope): Promise<{ scope: HistoryScope; lastTransaction?: string }> {
    if (scope.afterTransaction === undefined) return { scope };
    const feed = await this.statements.runOne<FeedRow>(READ_FEED, [scope.types, scope.afterTransaction, 'infinity']);
    const since = Math.max(feed?.since?.getTime() ?? -Infinity, scope.since?.getTime() ?? -Infinity);
    return {
      scope: since === -Infinity ? scope : { ...scope, since: new Date(since) },
      ...(feed === undefined ? {} : { lastTransaction: feed.last_transaction }),
    };
  }

  private rows(scope: HistoryScope, walk: HistoryWalk, hasTotal: boolean): Promise<PageRow[]> {
    const { statement, values } = historyPage(scope, walk, hasTotal);
    return this.statements.run<PageRow>(statement, values);
  }

  private async total(scope: HistoryScope): Promise<number> {
    const { statement, values } = historyTotal(scope);
    return (await this.statements.runOne<{ total: number }>(statement, values))?.total ?? 0;
  }
}

const versionOf = ({ type, id, version, updated_at, method, body }: PageRow): StoredVersion =>
  storedVersionOf({ type, id, version, updated_at, method, body });
