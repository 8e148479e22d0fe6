import { Injectable } from '@nestjs/common';
import { Statements } from '../../platform/database/statements';
import { RequestContext } from '../../platform/request/request-context';
import { notStored } from '../../store/not-stored';
import { ResourceReader } from '../../store/resource-reader';
import { Binder } from '../../store/binder';
import {
  READ_VERSION,
  RESOURCE_COLUMNS,
  type ResourceRow,
  storedResourceOf,
  type VersionRow,
} from '../../store/resource-statements';
import { type ResourceText, type StoredResource } from '../../model/stored-resource';
import { ResourceCriteria } from '../../search/run/resource-criteria';
import { RowCheck } from './row-check';
import { RowLimits } from './row-limits';
import { type RowLimit } from '../../search/rows/row-limit';

/**
 * Reads resources for the caller of the present request. To a caller who may read only some rows, a hidden resource
 * looks as if it never existed. A deleted resource looks the same to this caller, since the row filter has no row to
 * test.
 * @example
 * const { text } = await grantedReader.read('Patient', 'p7'); // not-found if the caller may not read it
 */
@Injectable()
export class GrantedReader {
  /** @internal */
  constructor(
    private readonly statements: Statements,
    private readonly reader: ResourceReader,
    private readonly limits: RowLimits,
    private readonly rows: RowCheck,
    private readonly criteria: ResourceCriteria,
    private readonly requests: RequestContext,
  ) {}

  /** Whether the caller may read only some rows. */
  get isLimited(): boolean {
    return this.requests.rows !== 'all';
  }

  async find(type: string, id: string): Promise<StoredResource | undefined> {
    const limit = await this.limits.current();
    return limit === undefined ? this.reader.find(type, id) : this.findWithin(limit, type, id);
  }

  /**
   * Finds up to `most` resources that match search parameters, as {@link ResourceCriteria.find} does, among the rows
   * that the caller may read. Chains and `_has` lead only to rows that the caller may search.
   * @param criteria a query such as `subject=Patient/p7&status=active`
   * @throws ServiceError as {@link ResourceCriteria.find}; 'forbidden' for criteria that lead to a type which the
   *   caller may not search
   */
  async search(type: string, criteria: string, most: number): Promise<ResourceText[]> {
    return this.criteria.findWithin(await this.limits.reach(), type, criteria, most);
  }

  /**
   * Reads one resource.
   * @throws ServiceError 'not-found'; for a deleted resource 'gone', if the caller may read all rows
   */
  async read(type: string, id: string): Promise<StoredResource> {
    return this.readWithin(await this.limits.current(), type, id);
  }

  /** Like {@link read}, for other rows than those of the present request; undefined means all. @internal */
  async readWithin(limit: RowLimit | undefined, type: string, id: string): Promise<StoredResource> {
    if (limit === undefined) return this.reader.read(type, id);
    const found = await this.findWithin(limit, type, id);
    if (found === undefined) throw notStored(type, id, false);
    return found;
  }

  /**
   * Checks that the caller may read a resource, for answers that show its existence but not its text.
   * @throws ServiceError 'not-found' if the caller may not read it
   * @internal
   */
  async assertSeen(type: string, id: string): Promise<void> {
    if (this.isLimited) await this.read(type, id);
  }

  /** Reads one version. A caller who may read the current version may read earlier ones. One statement reads both. */
  async readVersion(type: string, id: string, version: number): Promise<StoredResource> {
    const limit = await this.limits.current();
    if (limit === undefined) return this.reader.readVersion(type, id, version);
    const bind = new Binder();
    for (const value of [type, id, version]) bind.value(value);
    const refreshed = await this.rows.refreshed(limit, [{ type, id }]);
    const { statement, values } = bind.finish(
      `select v.* from (${READ_VERSION.text}) v where ${refreshed.testOfCurrent([type], bind)}`,
    );
    const row = await this.statements.runOne<VersionRow>(statement, values);
    if (row === undefined) throw notStored(type, id, false);
    if (row.body === null) throw notStored(type, id, true);
    return storedResourceOf({ ...row, body: row.body });
  }

  private async findWithin(limit: RowLimit, type: string, id: string): Promise<StoredResource | undefined> {
    const bind = new Binder();
    const refreshed = await this.rows.refreshed(limit, [{ type, id }]);
    const { statement, values } = bind.finish(
      `select ${RESOURCE_COLUMNS} from resource c where c.type = ${bind.value(type)} and c.id = ${bind.value(id)} and ${refreshed.test([type], bind)}`,
    );
    const row = await this.statements.runOne<ResourceRow>(statement, values);
    return row === undefined ? undefined : storedResourceOf(row);
  }
}
