import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { UnitOfWork } from '../platform/database/unit-of-work';
import { ServiceError } from '../platform/errors/service-error';
import { type ScannedJson } from '../platform/json/read-json';
import { NextVersions } from './next-versions';
import { ResourceDraft } from './resource-draft';
import { notStored } from './not-stored';
import { notGranted, RowCheck } from './rows/row-check';
import { type Reach } from './rows/reach';
import { type RowLimit } from './rows/row-limit';
import {
  type FreeId,
  type LockedId,
  type LockedResource,
  NEW_ID,
  type ResourceName,
  ResourceStore,
} from './store/resource-store';
import { type StoredResource, type WriteMethod } from './stored-resource';
import { type CheckedDraft, WriteExtensions } from './write-extensions';

export interface WriteOptions {
  /** Versions of `If-Match`: the write happens only on one of them; `*` asks for any stored version. */
  readonly ifMatch?: readonly number[] | '*';
  /** Versions of `If-None-Match`: the write does not happen on any of them; `*` asks that nothing is stored. */
  readonly ifNoneMatch?: readonly number[] | '*';
  /** How history and events name the write. */
  readonly method?: WriteMethod;
  /** The id of a resource that is created without one: a UUID that nobody else can know. */
  readonly newId?: string;
  /** Keys (`Patient/p7`) that the open transaction writes besides: references may name them. */
  readonly willExist?: ReadonlySet<string>;
  /** What the caller may touch: what is stored before and after has to be among its rows. Anything when absent. */
  readonly reach?: Reach | undefined;
}

export interface WriteResult {
  readonly outcome: 'created' | 'updated' | 'unchanged';
  readonly resource: StoredResource;
}

/** Makes the next content of a resource out of the stored text; runs while its row is held, maybe more than once. */
export type ResourcePatch = (storedText: string) => ScannedJson | Promise<ScannedJson>;

interface NewVersion {
  readonly limit: RowLimit | undefined;
  readonly id: string;
  readonly free: FreeId;
  readonly method: WriteMethod;
}

/**
 * Writes resources: rules, row, history, search rows and listeners in one transaction.
 * Rights and read-only types are the edges' business; modules write their own types through here.
 */
@Injectable()
export class ResourceWriter {
  constructor(
    private readonly store: ResourceStore,
    private readonly extensions: WriteExtensions,
    private readonly rows: RowCheck,
    private readonly unitOfWork: UnitOfWork,
    private readonly versions: NextVersions,
  ) {}

  /**
   * Stores a new resource under the draft's id, or under a new UUID, where nothing is looked for.
   * @throws ServiceError 'duplicate' when the id is taken; 'forbidden' beyond the limit, and for an id that something hidden
   * has or had.
   */
  async create(
    draft: ResourceDraft,
    { method = 'POST', newId = randomUUID(), willExist, reach }: WriteOptions = {},
  ): Promise<StoredResource> {
    const limit = reach?.rows;
    const { id } = draft;
    const rule = await this.extensions.check(draft, willExist);
    if (id === undefined) {
      const at = { id: newId, free: NEW_ID, method, limit };
      const needsTransaction = limit !== undefined || rule.needsTransaction || this.unitOfWork.isStrict;
      const alone = needsTransaction ? undefined : await this.insertAlone(draft, rule, at);
      return alone ?? this.unitOfWork.run(() => this.insert(draft, rule, at));
    }
    return this.unitOfWork.run(async () => {
      const held = await this.store.lockId(draft.type, id);
      if (!(await this.isOpen({ type: draft.type, id }, held, limit))) throw notGranted();
      if (held.current !== undefined) {
        throw new ServiceError(
          'duplicate',
          `${draft.type}/${id} already exists. Use PUT to replace it, or leave the id out.`,
        );
      }
      return this.insert(draft, rule, { id, free: held, method, limit });
    });
  }

  /**
   * Replaces the resource `id` of the draft's type, or creates it. Content that is the same is no new version.
   * @throws ServiceError 'precondition-failed' when the stored version is not one that the options ask for; 'forbidden' as
   * {@link create}.
   */
  async put(draft: ResourceDraft, id: string, options: WriteOptions = {}): Promise<WriteResult> {
    const { method = 'PUT', willExist, reach } = options;
    const limit = reach?.rows;
    const { type } = draft;
    const rule = await this.extensions.check(draft, willExist);
    return this.unitOfWork.run(async () => {
      const found = await this.store.lock(type, id);
      const held =
        found === undefined ? await this.store.lockId(type, id) : { current: found, lastVersion: found.version };
      const { current } = held;
      const isOpen = await this.isOpen({ type, id }, held, limit);
      assertMatch(options, isOpen ? current : undefined);
      if (!isOpen) throw notGranted();
      if (current !== undefined) return this.replace(draft, rule, current, { method, limit });
      return { outcome: 'created', resource: await this.insert(draft, rule, { id, free: held, method, limit }) };
    });
  }

  /**
   * Changes the stored resource `id`: the patch gets the text whose row is held, so that of two patches none is lost.
   * The result is checked and written like a PUT of it; content that is the same is no new version.
   * @throws ServiceError 'not-found' or 'gone' when nothing is stored, 'precondition-failed' as {@link put}.
   */
  async patch(type: string, id: string, patch: ResourcePatch, options: WriteOptions = {}): Promise<WriteResult> {
    const { method = 'PATCH', reach } = options;
    const limit = reach?.rows;
    await this.extensions.concerns(type);
    return this.unitOfWork.run(async () => {
      const current = await this.lockGranted(type, id, limit);
      if (current === undefined) {
        const wasDeleted = limit === undefined && (await this.store.lockId(type, id)).lastVersion > 0;
        throw notStored(type, id, wasDeleted);
      }
      assertMatch(options, current);
      const draft = ResourceDraft.of(await patch(current.text), type, id);
      return this.replace(draft, await this.extensions.check(draft), current, { method, limit });
    });
  }

  /** Deletes a resource and returns what it was; undefined when nothing was stored. The deletion takes a version. */
  async delete(type: string, id: string, options: WriteOptions = {}): Promise<StoredResource | undefined> {
    await this.extensions.concerns(type);
    return this.unitOfWork.run(async () => {
      const current = await this.lockGranted(type, id, options.reach?.rows);
      assertMatch(options, current);
      if (current === undefined) return undefined;
      const version = current.version + 1;
      const updatedAt = this.versions.timeAfter(current.updatedAt);
      await this.store.remove(current, version, updatedAt);
      await this.extensions.notify({
        interaction: 'delete',
        method: 'DELETE',
        type,
        id,
        version,
        updatedAt,
        previous: current,
      });
      return current;
    });
  }

  /** What is hidden is not there. */
  private async lockGranted(
    type: string,
    id: string,
    limit: RowLimit | undefined,
  ): Promise<LockedResource | undefined> {
    const current = await this.store.lock(type, id);
    return current !== undefined && (await this.rows.isGranted(limit, current)) ? current : undefined;
  }

  /** Whether an id may be written: whoever took over the id of something hidden or deleted would be shown its history. */
  private async isOpen(
    name: ResourceName,
    { current, lastVersion }: LockedId,
    limit: RowLimit | undefined,
  ): Promise<boolean> {
    if (limit === undefined || lastVersion === 0) return true;
    return current !== undefined && (await this.rows.isGranted(limit, name));
  }

  private async insert(draft: ResourceDraft, rule: CheckedDraft, at: NewVersion): Promise<StoredResource> {
    draft.assignId(at.id);
    await rule.store(undefined);
    const { type } = draft;
    const content = this.versions.ofNew(draft, at.id, at.method, at.free);
    const resource = await this.store.insert(type, at.id, content);
    await this.rows.assertGranted(at.limit, resource);
    const { limit } = at;
    await this.extensions.notify({ interaction: 'create', type, id: at.id, ...content, current: content, limit });
    return resource;
  }

  /**
   * By one statement, with what listeners have it do besides; undefined where one of them needs a transaction. Whoever gets
   * concerned from here on is too late for this write, which has no transaction to be told in.
   */
  private insertAlone(
    draft: ResourceDraft,
    { isConcerning }: CheckedDraft,
    { id, free, method }: NewVersion,
  ): Promise<StoredResource | undefined> {
    return this.unitOfWork.alone(async () => {
      if (isConcerning && this.unitOfWork.isOpen) return undefined;
      const { type } = draft;
      draft.assignId(id);
      const content = this.versions.ofNew(draft, id, method, free);
      const change = { interaction: 'create', type, id, ...content, current: content } as const;
      const parts = isConcerning ? await this.extensions.partsOf(change) : [];
      if (parts === undefined) return undefined;
      const resource = await this.store.insert(type, id, content, parts);
      for (const { afterCommit } of parts) afterCommit?.();
      return resource;
    });
  }

  private async replace(
    draft: ResourceDraft,
    rule: CheckedDraft,
    current: LockedResource,
    { method, limit }: Pick<NewVersion, 'method' | 'limit'>,
  ): Promise<WriteResult> {
    const { type, id } = current;
    await rule.store(current.value);
    const content = await this.versions.after(current, draft, method);
    if (content === undefined) return { outcome: 'unchanged', resource: current };
    const resource = await this.store.replace(current, content);
    await this.rows.assertGranted(limit, resource);
    await this.extensions.notify({ interaction: 'update', type, id, ...content, current: content, previous: current });
    return { outcome: 'updated', resource };
  }
}

/** @throws ServiceError 'precondition-failed' when what is stored is not what the caller counted on. */
export function assertMatch({ ifMatch, ifNoneMatch }: WriteOptions, current: StoredResource | undefined): void {
  const isNamed = (versions: readonly number[] | '*'): boolean =>
    current !== undefined && (versions === '*' || versions.includes(current.version));
  if ((ifMatch === undefined || isNamed(ifMatch)) && (ifNoneMatch === undefined || !isNamed(ifNoneMatch))) return;
  if (ifNoneMatch === '*' && current !== undefined) {
    throw new ServiceError(
      'precondition-failed',
      `${current.type}/${current.id} exists already, as version ${current.version}. Leave If-None-Match out to replace it.`,
    );
  }
  const found = current === undefined ? 'nothing is stored' : `the stored version is ${current.version}`;
  throw new ServiceError(
    'precondition-failed',
    `Version Id mismatch: ${found}. Read the resource again and repeat the change.`,
  );
}
