import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { UnitOfWork } from '../platform/database/unit-of-work';
import { NextVersions } from './writes/next-versions';
import { ResourceChangeListeners } from './hooks/resource-change.registry';
import { type ResourceDraft } from '../model/resource-draft';
import { type LockedResource, NEW_ID, ResourceStore } from '../store/resource-store';
import { type StoredResource, type WriteMethod } from '../model/stored-resource';
import { WriteExtensions } from './writes/write-extensions';
import {
  type ResourcePatch,
  type StoreWrite,
  type Write,
  type WriteConditions,
  type WriteResult,
} from './writes/write';
import { WriteSet } from './writes/write-set';

export interface WriteOptions extends WriteConditions {
  /** How history and events name the write. */
  readonly method?: WriteMethod;
  /** The resource, where the open transaction has locked it already. @internal */
  readonly locked?: LockedResource;
}

type CreateOptions = Omit<WriteOptions, 'locked'> & Pick<StoreWrite, 'parts'> & { readonly newId?: string };

/** A set of one has one place. */
const ONLY = 0;

/**
 * Writes resources: rules, row, history, search rows and listeners in one transaction.
 * Rights and read-only types are the edges' business; modules write their own types through here.
 */
@Injectable()
export class ResourceWriter {
  /** @internal */
  constructor(
    private readonly store: ResourceStore,
    private readonly set: WriteSet,
    private readonly extensions: WriteExtensions,
    private readonly listeners: ResourceChangeListeners,
    private readonly unitOfWork: UnitOfWork,
    private readonly versions: NextVersions,
  ) {}

  /**
   * Stores a new resource under the draft's id, or under a new UUID, where nothing is looked for.
   * @param options with `newId` for a draft without an id: a UUID that nobody else can know; `parts`: what the statement does besides
   * @throws ServiceError 'duplicate' when the id is taken; 'forbidden' beyond the limit, and for an id that something hidden
   * has or had.
   */
  async create(draft: ResourceDraft, options: CreateOptions = {}): Promise<StoredResource> {
    const { method = 'POST', newId = randomUUID(), reach, parts } = options;
    const { type, id = newId } = draft;
    const isNewId = draft.id === undefined;
    const rule = await this.extensions.check(draft);
    const write = { mode: 'create', index: ONLY, type, id, draft, rule, method, isNewId, reach, parts } as const;
    const isPlain = isNewId && reach?.rows === undefined && !rule.needsTransaction && !this.unitOfWork.isStrict;
    return (isPlain ? await this.insertAlone(write) : undefined) ?? (await this.one(write)).resource;
  }

  /**
   * Replaces the resource `id` of the draft's type, or creates it. Content that is the same is no new version.
   * @throws ServiceError 'precondition-failed' when the stored version is not one that the options ask for; 'forbidden' as
   * {@link create}.
   */
  async put(draft: ResourceDraft, id: string, { method = 'PUT', ...options }: WriteOptions = {}): Promise<WriteResult> {
    const rule = await this.extensions.check(draft);
    const { type } = draft;
    return this.one({ ...options, mode: 'put', index: ONLY, type, id, draft, rule, method, isNewId: false });
  }

  /**
   * Changes the stored resource `id`: the patch gets the text whose row is locked, so that of two patches none is lost.
   * The result is checked and written like a PUT of it; content that is the same is no new version.
   * @throws ServiceError 'not-found' or 'gone' when nothing is stored, 'precondition-failed' as {@link put}.
   */
  async patch(
    type: string,
    id: string,
    patch: ResourcePatch,
    { method = 'PATCH', ...options }: WriteOptions = {},
  ): Promise<WriteResult> {
    await this.listeners.concerns(type);
    return this.one({ ...options, mode: 'patch', index: ONLY, type, id, patch, method });
  }

  /** Deletes a resource and returns what it was; undefined when nothing was stored. The deletion takes a version. */
  async delete(type: string, id: string, options: WriteOptions = {}): Promise<StoredResource | undefined> {
    await this.listeners.concerns(type);
    const [result] = await this.write([{ ...options, mode: 'delete', index: ONLY, type, id }]);
    return result?.resource;
  }

  /** Deletes resources that the open transaction has locked. @internal */
  async deleteAll(resources: readonly LockedResource[], { reach }: Pick<WriteOptions, 'reach'>): Promise<void> {
    await this.write(
      resources.map((locked, index) => ({ mode: 'delete', index, type: locked.type, id: locked.id, locked, reach })),
    );
  }

  private async one(write: Write): Promise<WriteResult> {
    const [result] = await this.write([write]);
    if (result === undefined) throw new RangeError('A write that stores has no result');
    return result;
  }

  private write(writes: readonly Write[]): Promise<(WriteResult | undefined)[]> {
    return this.unitOfWork.run(() => this.set.write(writes));
  }

  /**
   * By one statement, with what listeners have it do besides; undefined where one of them needs a transaction. A listener
   * that gets concerned from here on misses this write, which has no transaction.
   */
  private insertAlone({
    type,
    id,
    draft,
    rule,
    method,
    parts: own = [],
  }: StoreWrite): Promise<StoredResource | undefined> {
    return this.unitOfWork.alone(async () => {
      if (rule.isConcerning && this.unitOfWork.isOpen) return undefined;
      draft.assignId(id);
      const content = this.versions.ofNew(draft, id, method, NEW_ID);
      const change = { interaction: 'create', type, id, ...content, current: content } as const;
      const parts = rule.isConcerning ? await this.listeners.partsOf(change) : [];
      if (parts === undefined) return undefined;
      await this.store.insert({ type, id, content, parts: [...own, ...parts] });
      for (const { afterCommit } of parts) afterCommit?.();
      return { type, id, ...content };
    });
  }
}
