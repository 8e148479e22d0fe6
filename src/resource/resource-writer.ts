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

/** Preconditions of a write, and its method. */
export interface WriteOptions extends WriteConditions {
  /** The method that the history and events show. */
  readonly method?: WriteMethod;
  /**
   * The resource, if the open transaction has already locked it.
   * @internal
   */
  readonly locked?: LockedResource;
}

type CreateOptions = Omit<WriteOptions, 'locked'> & Pick<StoreWrite, 'parts'> & { readonly newId?: string };

/** Index of the only write in a set of one write. */
const ONLY = 0;

/**
 * Writes resources: it applies rules, and writes the row, its history, its index rows and the rows of listeners in one
 * transaction. Callers check access rights and read-only types. Modules write resources of their own types through this
 * class.
 * @example
 * const { outcome } = await writer.put(ResourceDraft.own('Ward', { beds: 12 }), '4B', { ifMatch: [3] });
 *
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
   * Stores a new resource under the draft's id. Without one, a new UUID is used, which needs no lookup.
   * @param options with `newId`, for a draft without an id: a UUID that was never used; with `parts`: CTEs added to the
   *   statement
   * @throws ServiceError 'duplicate' if the id is taken; 'forbidden' outside of the row limit, or if a hidden resource
   *   has or had the id
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
   * Replaces the resource `id` of the draft's type, or creates it. Content equal to the stored one makes no new
   * version.
   * @throws ServiceError 'precondition-failed' if the options require another stored version; 'forbidden' as
   *   {@link create}
   */
  async put(draft: ResourceDraft, id: string, { method = 'PUT', ...options }: WriteOptions = {}): Promise<WriteResult> {
    const rule = await this.extensions.check(draft);
    const { type } = draft;
    return this.one({ ...options, mode: 'put', index: ONLY, type, id, draft, rule, method, isNewId: false });
  }

  /**
   * Changes the stored resource `id`. The patch receives the text of the locked row, so no concurrent patch is lost.
   * The result is validated and written like a PUT. Content equal to the stored one makes no new version.
   * @throws ServiceError 'not-found' or 'gone' if nothing is stored, 'precondition-failed' as {@link put}
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

  /**
   * Deletes a resource and returns its last content; undefined if nothing was stored. The deletion gets its own version
   * number.
   */
  async delete(type: string, id: string, options: WriteOptions = {}): Promise<StoredResource | undefined> {
    await this.listeners.concerns(type);
    const [result] = await this.write([{ ...options, mode: 'delete', index: ONLY, type, id }]);
    return result?.resource;
  }

  /**
   * Deletes resources that the open transaction has locked.
   * @internal
   */
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
   * Inserts a resource by one statement that includes the CTEs of listeners; undefined if a listener needs a
   * transaction. The write runs without a transaction, so listeners registered after this point miss it.
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
      await this.store.insertAll([{ type, id, content, parts: [...own, ...parts] }]);
      for (const { afterCommit } of parts) afterCommit?.();
      return { type, id, ...content };
    });
  }
}
