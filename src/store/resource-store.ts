import { Injectable } from '@nestjs/common';
import { localKey } from '../fhir/reference';
import { type Resource } from '../fhir/types';
import { TransactionConflict, isConflictOf, isUniqueViolation } from '../platform/database/database-error';
import { pipelined } from '../platform/database/pipelined';
import { type StatementPart } from '../platform/database/statement';
import { Statements } from '../platform/database/statements';
import { UnitOfWork } from '../platform/database/unit-of-work';
import { ServiceError } from '../platform/errors/service-error';
import { TooCostly } from '../platform/errors/too-costly';
import { longestStepOn, Slices } from '../platform/time/slices';
import { type Steps } from '../platform/time/steps';
import { MAX_STORED_PAIRS } from '../search-index/extract/extraction';
import { type SearchRows } from '../search-index/extract/search-rows';
import { KnownUnits } from './known-units';
import { type IndexSnapshot, SearchIndex } from '../search-index/search-index';
import { MetaStyles } from '../model/meta-style';
import { type ResourceName, type StoredResource, type WriteMethod } from '../model/stored-resource';
import { ResourceKeys } from './resource-keys';
import { indexDigestsOf } from './index-digests';
import {
  LAST_VERSIONS,
  LOCK_IDS,
  READ_BYTES,
  READ_CREATION,
  READ_FOR_UPDATE,
  READ_MANY_FOR_UPDATE,
  READ_OUTDATED_FOR_UPDATE,
  type ResourceRow,
  storedResourceOf,
} from './resource-statements';
import { columnsOf } from './search-tables';
import { insertResources, reindexResources } from './set-statements';
import { type BoundStatement } from './binder';
import {
  type IndexedResource,
  type LockedVersion,
  type NewRow,
  type RowContent,
  deleteResource,
  insertResource,
  updateResource,
} from './write-statements';

export interface StoredBody {
  readonly type: string;
  readonly id: string;
  readonly key: number;
  readonly version: number;
  readonly mainDate: Date;
  readonly text: string;
  /** The parsed text; numbers are doubles. */
  readonly value: Resource;
}

/** A stored resource whose row this transaction has locked. */
export interface LockedResource extends StoredResource, StoredBody, LockedVersion {}

export interface VersionContent {
  readonly version: number;
  readonly updatedAt: Date;
  readonly method: WriteMethod;
  readonly text: string;
  readonly value: Resource;
}

/** An id under which nothing is stored now. */
export interface FreeId {
  /** Version of the deletion; 0 if the id was never used. */
  readonly lastVersion: number;
  readonly deletedAt?: Date | undefined;
  /** Time of version 1, if a resource with this id was deleted. */
  readonly createdAt?: Date | undefined;
}

/**
 * An id that a transaction has locked. If a resource is stored under it, `lastVersion` is the version of this resource.
 */
export interface LockedId extends FreeId {
  readonly current: LockedResource | undefined;
}

export const NEW_ID: FreeId = { lastVersion: 0 };

/** A resource to insert. It is the first version of its id, or the version after a deletion. */
export interface NewResource extends ResourceName {
  readonly content: VersionContent;
  /** CTEs that run together with the insert, in its statement. */
  readonly parts?: readonly StatementPart[] | undefined;
}

/**
 * Maximum number of ids that a write locks by advisory locks. These locks take entries of a table that all connections
 * share (64 for each allowed connection). A write of more ids takes none of them; afterwards
 * {@link ResourceStore.assertUnchanged} checks whether another transaction interfered.
 */
const MAX_ID_LOCKS = 128;

/** Maximum CPU time to make the index rows of one resource, if callers defined some of its search parameters. */
const MAX_MILLISECONDS = 5_000;

/**
 * Maximum number of resources, and of characters of their bodies, in one INSERT. Both this server and PostgreSQL build
 * it in memory.
 */
const INSERT_CHUNK = 500;
const INSERT_CHUNK_CHARACTERS = 4 * 1024 * 1024;

/** The index rows of a version, with the columns of `resource` that depend on them. */
type IndexRows = Pick<RowContent, 'present' | 'columns' | 'mainDate' | 'parametersVersion' | 'indexDigests'>;

interface LastVersionRow {
  readonly type: string;
  readonly id: string;
  readonly version: number;
  readonly deleted_at: Date | null;
  readonly created_at: Date | null;
}

interface LockedRow extends ResourceRow {
  readonly resource_key: number;
  readonly main_date: Date;
  readonly index_digests: string | null;
}

/** Writes rows of `resource`, `resource_history` and the search tables, always together. */
@Injectable()
export class ResourceStore {
  constructor(
    private readonly statements: Statements,
    private readonly keys: ResourceKeys,
    private readonly index: SearchIndex,
    private readonly knownUnits: KnownUnits,
    private readonly slices: Slices,
    private readonly unitOfWork: UnitOfWork,
    private readonly styles: MetaStyles,
  ) {
    // When the parameters change, index builds wait for all transactions that hold this lock (ADR 0019).
    unitOfWork.beginStrictlyWith('lock table resource in row exclusive mode');
  }

  /** Locks the stored version until the transaction ends. Returns undefined if nothing is stored. */
  async lock(type: string, id: string): Promise<LockedResource | undefined> {
    const row = await this.statements.runOne<LockedRow>(READ_FOR_UPDATE, [type, id]);
    return row === undefined ? undefined : lockedResourceOf(row);
  }

  /**
   * Locks ids, whether or not a resource is stored under them, in one order that all transactions share. So the second
   * of two concurrent creates waits, and then sees the first. The result is in the order of `names`, which must be
   * distinct.
   */
  async lockAll(names: readonly ResourceName[]): Promise<LockedId[]> {
    if (names.length === 0) return [];
    const columns = nameColumns(names);
    const hashes = names.map(({ type, id }) => this.index.referenceHash(type, id));
    // The three statements are one pipelined round trip on the connection of the transaction. The two reads begin when
    // the locks are held.
    const [, rows, last] = await pipelined([
      names.length > MAX_ID_LOCKS ? [] : this.statements.run(LOCK_IDS, [hashes]),
      this.statements.run<LockedRow>(READ_MANY_FOR_UPDATE, columns),
      this.statements.run<LastVersionRow>(LAST_VERSIONS, columns),
    ] as const);
    const currentByKey = new Map(rows.map((row) => [localKey(row.type, row.id), lockedResourceOf(row)]));
    const lastByKey = new Map(last.map((row) => [localKey(row.type, row.id), row]));
    return names.map(({ type, id }) => {
      const key = localKey(type, id);
      return lockedId(currentByKey.get(key), lastByKey.get(key));
    });
  }

  /** The total length of the bodies of the named resources. A resource that is not stored adds nothing. */
  async bytesOf(names: readonly ResourceName[]): Promise<number> {
    return (await this.statements.runOne<{ bytes: number }>(READ_BYTES, nameColumns(names)))?.bytes ?? 0;
  }

  /** Creation time of a locked resource; undefined if its first version is not in the history. */
  async createdAt({ type, id, version, updatedAt }: LockedResource): Promise<Date | undefined> {
    if (version === 1) return updatedAt;
    return (await this.statements.runOne<{ updated_at: Date }>(READ_CREATION, [type, id]))?.updated_at;
  }

  /**
   * Inserts resources, some hundreds per statement. If a client chose an id that {@link lockAll} did not find,
   * {@link assertUnchanged} must check it afterwards.
   */
  async insertAll(resources: readonly NewResource[], afterEach?: () => Promise<void>): Promise<void> {
    if (resources.length === 0) return;
    const index = await this.index.forWrite();
    let rows: NewRow[] = [];
    let parts: StatementPart[] = [];
    let characters = 0;
    const flush = async (): Promise<void> => {
      const [only, ...others] = rows;
      if (only === undefined) return;
      const statement = others.length === 0 ? insertResource(only, parts) : insertResources(rows, parts);
      await this.execute(await this.slices.run(statement));
      rows = [];
      parts = [];
      characters = 0;
    };
    for (const resource of resources) {
      rows.push(await this.newRowOf(resource, index));
      parts.push(...(resource.parts ?? []));
      characters += resource.content.text.length;
      if (rows.length >= INSERT_CHUNK || characters >= INSERT_CHUNK_CHARACTERS) await flush();
      await afterEach?.();
    }
    await flush();
  }

  /**
   * Checks that no transaction created and deleted one of the ids after its history was read. From the insert on, the
   * id is locked.
   * @throws TransactionConflict if a transaction did
   */
  async assertUnchanged(resources: readonly NewResource[]): Promise<void> {
    // With so few resources this transaction holds an advisory lock on each id, so no other transaction used one.
    if (resources.length <= MAX_ID_LOCKS) return;
    const columns = nameColumns(resources);
    const versions = new Map(resources.map(({ type, id, content }) => [localKey(type, id), content.version]));
    for (const { type, id, version } of await this.statements.run<LastVersionRow>(LAST_VERSIONS, columns)) {
      if (version >= (versions.get(localKey(type, id)) ?? 0))
        throw new TransactionConflict('An id was used in between');
    }
  }

  async replace(locked: LockedResource, content: VersionContent): Promise<void> {
    const index = await this.index.forWrite();
    const rows = await this.indexRowsOf(index, locked.type, content, locked.mainDate);
    await this.execute(await this.slices.run(updateResource(locked, { ...content, ...rows })));
  }

  async remove({ key }: LockedResource, version: number, deletedAt: Date): Promise<void> {
    await this.execute(deleteResource(key, version, deletedAt));
  }

  /** Rewrites the index rows of locked resources. */
  async reindex(rows: readonly IndexedResource[], keepsDigests: boolean): Promise<void> {
    if (rows.length === 0) return;
    await this.execute(await this.slices.run(reindexResources(rows, keepsDigests)));
  }

  /**
   * Makes the index rows of a stored resource from its body, with the current parameters.
   * @throws ServiceError 'unprocessable' if stored SearchParameters exceed their limits on this resource
   */
  async indexed(stored: StoredBody): Promise<IndexedResource> {
    const index = await this.index.forWrite();
    const { type, id, key, mainDate } = stored;
    const rows = await this.indexRowsOf(index, type, stored, mainDate, MAX_STORED_PAIRS);
    return { key, referenceHash: this.index.referenceHash(type, id), ...rows };
  }

  /**
   * Rewrites the index rows of stored resources from their bodies, unless they were made with the current parameters.
   */
  async refresh(names: readonly ResourceName[]): Promise<void> {
    const { version } = await this.index.forWrite();
    await this.unitOfWork.run(async () => {
      const rows = await this.statements.run<LockedRow>(READ_OUTDATED_FOR_UPDATE, [...nameColumns(names), version]);
      const indexed: IndexedResource[] = [];
      for (const row of rows) indexed.push(await this.indexed(lockedResourceOf(row)));
      await this.reindex(indexed, true);
    });
  }

  /**
   * The index rows of a version. Its main date is the creation time if the resource has no clinical date. Each index
   * row holds the main date, so a change of it moves the index rows.
   * @param fallbackDate the main date of a resource without a clinical date, if its `meta` holds no creation time
   * @throws ServiceError 'unprocessable' if stored search parameters take too long on this resource
   */
  private async indexRowsOf(
    index: IndexSnapshot,
    type: string,
    { version, text, value }: Pick<VersionContent, 'version' | 'text' | 'value'>,
    fallbackDate: Date,
    maxPairs?: number,
  ): Promise<IndexRows> {
    const extract = (): Steps<SearchRows> => index.extractorOf(type)(value, { characters: text.length, maxPairs });
    // Expressions of callers may be quadratic, or worse, in the size of the resource.
    const found = await (index.parameters.hasLive(type)
      ? this.extractLimited(extract, text.length)
      : this.slices.run(extract()));
    const createdAt = this.styles.of(type).createdAtIn(value.meta ?? {}) ?? fallbackDate;
    const mainDate = found.mainDate === undefined ? createdAt : new Date(found.mainDate);
    return this.slices.run(this.digested(found, { version, mainDate, parametersVersion: index.version }));
  }

  private async extractLimited(extract: () => Steps<SearchRows>, characters: number): Promise<SearchRows> {
    try {
      return await this.slices.runLimited(extract, { ofOne: longestStepOn(characters), ofAll: MAX_MILLISECONDS });
    } catch (error) {
      if (!(error instanceof TooCostly)) throw error;
      throw new ServiceError(
        'resource-invalid',
        'Stored SearchParameters of this type take too long on this resource: divide it, or simplify their expressions.',
      );
    }
  }

  private *digested(
    found: SearchRows,
    version: Pick<RowContent, 'version' | 'mainDate' | 'parametersVersion'>,
  ): Steps<IndexRows> {
    const columns = yield* columnsOf(Object.assign({}, found, { units: this.knownUnits.unknownAmong(found.units) }));
    const indexDigests = yield* indexDigestsOf({ columns, ...version }, this.index.hashes);
    const { mainDate, parametersVersion } = version;
    return { present: found.present, columns, mainDate, parametersVersion, indexDigests };
  }

  private async newRowOf({ type, id, content }: NewResource, index: IndexSnapshot): Promise<NewRow> {
    const rows = await this.indexRowsOf(index, type, content, content.updatedAt);
    const [key, referenceHash] = [await this.keys.take(), this.index.referenceHash(type, id)];
    return { key, type, id, referenceHash, ...content, ...rows };
  }

  private async execute({ statement, values }: BoundStatement): Promise<void> {
    try {
      await this.statements.run(statement, values);
    } catch (error) {
      if (isParametersConflict(error)) this.index.forget();
      // Another transaction has created the id and committed, so a retry will find it.
      if (!isUniqueViolation(error, 'resource_type_id_idx')) throw error;
      throw new TransactionConflict('The id was created at the same time', { cause: error });
    }
  }
}

const nameColumns = (names: readonly ResourceName[]): string[][] => [
  names.map(({ type }) => type),
  names.map(({ id }) => id),
];

const lockedResourceOf = (row: LockedRow): LockedResource => ({
  key: row.resource_key,
  mainDate: row.main_date,
  indexDigests: row.index_digests,
  value: JSON.parse(row.body) as Resource,
  ...storedResourceOf(row),
});

export const lockedId = (current: LockedResource | undefined, last?: LastVersionRow): LockedId => ({
  current,
  lastVersion: (current ?? last)?.version ?? 0,
  deletedAt: last?.deleted_at ?? undefined,
  createdAt: last?.created_at ?? undefined,
});

/** Whether the write failed since it used outdated search parameters. It is then retried with the current ones. */
const isParametersConflict = (error: unknown): boolean => isConflictOf(error, 'search_parameter_version');
