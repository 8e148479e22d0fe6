import { Injectable } from '@nestjs/common';
import { type Resource } from '../../fhir/types';
import { isConflictOf } from '../../platform/database/database-error';
import { Statements } from '../../platform/database/statements';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { type IndexSnapshot } from '../search/index-snapshot';
import { KnownUnits } from '../search/known-units';
import { SearchIndex } from '../search/search-index';
import { type StoredResource, type WriteMethod } from '../stored-resource';
import { ResourceKeys } from './resource-keys';
import { type ResourceRow, type VersionRow, storedResourceOf } from './resource-row';
import { LOCK_ID, READ_FOR_UPDATE, READ_LAST_HISTORY } from './resource-statements';
import {
  type BoundStatement,
  type RowContent,
  type RowLocation,
  deleteResource,
  insertResource,
  updateResource,
} from './write-statements';

/** A stored resource whose row this transaction holds. */
export interface LockedResource extends StoredResource {
  readonly key: number;
  readonly mainDate: Date;
  /** The parsed text; numbers are doubles. */
  readonly value: Resource;
}

export interface VersionContent {
  readonly version: number;
  readonly updatedAt: Date;
  readonly method: WriteMethod;
  readonly text: string;
  readonly value: Resource;
}

interface LockedRow extends ResourceRow {
  readonly resource_key: number;
  readonly main_date: Date;
}

/** Rows of `resource`, `resource_history` and the search tables, always written together. */
@Injectable()
export class ResourceStore {
  constructor(
    private readonly statements: Statements,
    private readonly keys: ResourceKeys,
    private readonly index: SearchIndex,
    private readonly knownUnits: KnownUnits,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Locks the stored version until the transaction ends; undefined when nothing is stored. */
  async lock(type: string, id: string): Promise<LockedResource | undefined> {
    const row = await this.statements.runOne<LockedRow>(READ_FOR_UPDATE, [type, id]);
    if (row === undefined) return undefined;
    return {
      ...storedResourceOf(row),
      key: row.resource_key,
      mainDate: row.main_date,
      value: JSON.parse(row.body) as Resource,
    };
  }

  /**
   * Locks an id that may not be stored, so that of two creates one waits and then sees the other.
   * `lastVersion` is 0 for an id that never was, else the version of its deletion.
   */
  async lockId(type: string, id: string): Promise<{ current: LockedResource | undefined; lastVersion: number }> {
    // One flight on the connection of the transaction; the reads begin when the lock is held.
    const [, current, last] = await Promise.all([
      this.statements.run(LOCK_ID, [this.index.referenceHash(type, id)]),
      this.lock(type, id),
      this.statements.runOne<VersionRow>(READ_LAST_HISTORY, [type, id]),
    ]);
    return { current, lastVersion: (current ?? last)?.version ?? 0 };
  }

  async insert(type: string, id: string, content: VersionContent): Promise<StoredResource> {
    try {
      return await this.insertRow(type, id, content);
    } catch (error) {
      if (this.unitOfWork.isOpen || !isParametersConflict(error)) throw error;
      // A statement of its own has nobody else to start it over.
      return this.unitOfWork.run(() => this.insertRow(type, id, content));
    }
  }

  private async insertRow(type: string, id: string, content: VersionContent): Promise<StoredResource> {
    const row = this.rowOf(await this.index.forWrite(), type, content, content.updatedAt);
    const key = await this.keys.take();
    await this.execute(insertResource({ ...row, key, type, id, referenceHash: this.index.referenceHash(type, id) }));
    return { type, id, ...content };
  }

  async replace(locked: LockedResource, content: VersionContent): Promise<StoredResource> {
    const { type, id } = locked;
    const index = await this.index.forWrite();
    await this.execute(updateResource(locationOf(index, locked), this.rowOf(index, type, content, locked.mainDate)));
    return { type, id, ...content };
  }

  async remove(locked: LockedResource, version: number, deletedAt: Date): Promise<void> {
    const index = await this.index.forWrite();
    await this.execute(deleteResource(locationOf(index, locked), version, deletedAt));
  }

  /** A resource without a clinical date keeps the time of its creation: rows move when the main date does. */
  private rowOf(index: IndexSnapshot, type: string, content: VersionContent, fallbackDate: Date): RowContent {
    const found = index.rowsOf(type, content.value);
    const rows = { ...found, units: this.knownUnits.unknownAmong(found.units) };
    const mainDate = rows.mainDate === undefined ? fallbackDate : new Date(rows.mainDate);
    return { ...content, rows, mainDate, parametersVersion: index.version };
  }

  private async execute({ statement, values }: BoundStatement): Promise<void> {
    try {
      await this.statements.run(statement, values);
    } catch (error) {
      if (isParametersConflict(error)) this.index.forget();
      throw error;
    }
  }
}

const locationOf = (index: IndexSnapshot, { key, mainDate, type, value }: LockedResource): RowLocation => ({
  key,
  mainDate,
  rows: index.rowsOf(type, value),
  parametersVersion: index.version,
});

/** The write went by search parameters that are no longer in force: it is made again by the new ones. */
const isParametersConflict = (error: unknown): boolean => isConflictOf(error, 'search_parameter_version');
