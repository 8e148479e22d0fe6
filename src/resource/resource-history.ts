import { Injectable } from '@nestjs/common';
import { Environment } from '../platform/config/environment';
import { Statements } from '../platform/database/statements';
import { TimeLimit } from '../platform/database/time-limit';
import { type FeedBookmark, foreignBookmark } from './feed-bookmark';
import { fittingRows, LateTexts, type ListedVersion } from '../store/late-texts';
import { ResourceReader } from '../store/resource-reader';
import { GrantedReader } from './rows/granted-reader';
import { storedVersionOf, type VersionRow } from '../store/resource-statements';
import { type HistoryScope, type HistoryWalk, historyPage, historyTotal, READ_FEED } from '../store/history-statements';
import { type RowLimit } from '../search/rows/row-limit';
import { type StoredVersion } from '../model/stored-resource';

export interface HistoryRequest {
  readonly scope: Omit<HistoryScope, 'visible'>;
  readonly walk: Pick<HistoryWalk, 'direction' | 'from' | 'skip'>;
  /** Number of versions on a page; 0 requests only the total. */
  readonly count: number;
  readonly hasTotal: boolean;
  /** Requests only versions that were written after this position. */
  readonly bookmark?: FeedBookmark;
  /** Filter by the rows that the caller may see; absent if all. */
  readonly limit?: RowLimit | undefined;
}

/** A version of a page, whose text may be read later ({@link LateTexts}). */
export type HistoryVersion = ListedVersion &
  Omit<StoredVersion, 'text'> & {
    /** Whether the resource did not exist before: the first version, or one after a deletion. */
    readonly isCreation: boolean;
  };

export interface HistoryPage {
  /** Newest first, including deletions; fewer than requested if they are long. */
  readonly versions: readonly HistoryVersion[];
  /** Number of versions on all pages; absent if not requested. */
  readonly total?: number;
  /** Whether more versions follow in the direction in which the history is read. */
  readonly hasMore: boolean;
  /** For a request with a bookmark: the bookmark from which the client continues after this answer. */
  readonly bookmark?: Required<FeedBookmark>;
}

interface FeedRow {
  readonly history: string;
  readonly has_ended: boolean;
  readonly last_transaction: string;
}

interface PageRow extends VersionRow {
  readonly bytes: number | null;
  readonly is_creation: boolean;
  readonly total?: number;
}

/** Lists the versions of one resource, of some types, or of all types, by time. */
@Injectable()
export class ResourceHistory {
  constructor(
    private readonly statements: Statements,
    private readonly reader: ResourceReader,
    private readonly granted: GrantedReader,
    private readonly texts: LateTexts,
    private readonly environment: Environment,
  ) {}

  /** Like {@link page}, with the texts of all versions; only for short pages. */
  async wholePage(
    request: HistoryRequest,
  ): Promise<Omit<HistoryPage, 'versions'> & { readonly versions: readonly StoredVersion[] }> {
    const page = await this.page(request);
    const versions = (await this.texts.all(page.versions)).map(({ text, ...version }) =>
      storedVersionOf({ ...version, updated_at: version.updatedAt, body: text ?? null }),
    );
    return { ...page, versions };
  }

  /**
   * Reads a page of a history. The read waits for a slot, like a search: to count the versions of a type takes long.
   * @throws ServiceError 'not-found' for the history of one resource that never existed
   * @throws ServiceError 'gone' if the bookmark belongs to another transaction history than this database's
   */
  page(request: HistoryRequest): Promise<HistoryPage> {
    const seconds = this.environment.statementTimeoutSeconds;
    const message = `The history took longer than ${seconds} s. Ask for less: _total=none, a smaller _count, a later _since.`;
    return this.statements.within(new TimeLimit(seconds, message, true), () => this.read(request));
  }

  private async read(request: HistoryRequest): Promise<HistoryPage> {
    const { scope: asked, walk, count, hasTotal, bookmark: known, limit } = request;
    const scope: HistoryScope = { ...asked, visible: limit };
    const bookmark = known === undefined ? undefined : await this.nextBookmark(known, scope.types);
    const rows = count === 0 ? [] : await this.rows(scope, { ...walk, limit: count + 1 }, hasTotal);
    const total = rows[0]?.total ?? (hasTotal ? await this.total(scope) : undefined);
    if (rows.length === 0 && scope.id !== undefined) await this.assertWas(scope.types[0] ?? '', scope.id, limit);
    const versions = fittingRows(rows.slice(0, count)).map(versionOf);
    const hasMore = rows.length > versions.length;
    return {
      versions: walk.direction === 'older' ? versions : versions.reverse(),
      hasMore,
      ...(total === undefined ? {} : { total }),
      ...(bookmark === undefined ? {} : { bookmark }),
    };
  }

  private async assertWas(type: string, id: string, limit: RowLimit | undefined): Promise<void> {
    if (limit === undefined) await this.reader.assertWas(type, id);
    else await this.granted.readWithin(limit, type, id);
  }

  private async nextBookmark(
    { history, transaction }: FeedBookmark,
    types: readonly string[],
  ): Promise<Required<FeedBookmark>> {
    const [feed] = await this.statements.run<FeedRow>(READ_FEED, [types, transaction]);
    if (feed === undefined) throw new Error('The statement of the feed always has a row.');
    const isOurs = history === undefined || (history === feed.history && feed.has_ended);
    if (!isOurs) throw foreignBookmark();
    return { history: feed.history, transaction: feed.last_transaction };
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

const versionOf = ({ type, id, version, method, bytes, body, ...row }: PageRow): HistoryVersion => ({
  ...{ type, id, version, updatedAt: row.updated_at, method, isCreation: row.is_creation },
  bytes: bytes ?? undefined,
  text: body ?? undefined,
});
