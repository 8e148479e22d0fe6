import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { UnitOfWork } from '../../platform/database/unit-of-work';
import { ServiceError } from '../../platform/errors/service-error';
import { EntryAccesses } from '../../resource/access/entry-access.registry';
import { readOf } from '../../resource/access/entry-access';
import { ResourceRules } from '../../resource/hooks/resource-rule.registry';
import { type ResourceDraft } from '../../model/resource-draft';
import { type ResourceName, type StoredResource } from '../../model/stored-resource';
import { RowCheck } from '../../resource/rows/row-check';
import { RowLimits } from '../../resource/rows/row-limits';
import { type Reach } from '../../search/rows/reach';
import { type RowLimit } from '../../search/rows/row-limit';

/** A write with the resource as its answer shows it; undefined if the answer shows no resource. */
export type ShownWrite<T> = T & { readonly shown: StoredResource | undefined };

/**
 * Decides what the answer to a write shows, in the transaction of the write. A statement after the commit could fail,
 * and then a committed write would be answered with an error.
 */
@Injectable()
export class ShownContent {
  constructor(
    private readonly access: EntryAccesses,
    private readonly limits: RowLimits,
    private readonly rows: RowCheck,
    private readonly rules: ResourceRules,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Runs a write whose answer shows the resource that the caller sent. */
  async ofSent<T extends { readonly resource: StoredResource }>(
    draft: ResourceDraft,
    write: (draft: ResourceDraft) => Promise<T>,
  ): Promise<ShownWrite<T>> {
    const withShown = async (result: T): Promise<ShownWrite<T>> => ({
      ...result,
      shown: await this.rules.shown(result.resource),
    });
    // Other types need no statement to be shown, and some of their writes need no transaction.
    if (this.rules.of(draft.type)?.shown === undefined) return withShown(await write(draft));
    return this.unitOfWork.run(async () => withShown(await write(draft.copy())));
  }

  /**
   * Runs a write whose answer may show content that the caller did not send: the resource that the condition of a
   * create found, or that was patched or deleted. To show it needs the grant of a read; the policies granted the write.
   * @param reach the rows granted to the write
   */
  ofFound<T extends { readonly outcome?: string; readonly resource?: StoredResource }>(
    write: () => Promise<T>,
    reach?: Reach,
  ): Promise<ShownWrite<T>> {
    return this.unitOfWork.run(async () => {
      const result = await write();
      const { outcome, resource } = result;
      if (resource === undefined || (outcome !== 'created' && !(await this.isShown(resource, reach))))
        return { ...result, shown: undefined };
      // A deletion has no outcome, and shows the text that was stored.
      return { ...result, shown: outcome === undefined ? resource : await this.rules.shown(resource) };
    });
  }

  /**
   * Whether the caller may read a resource that the open transaction found, patched or deleted.
   * @param written the rows granted to the write; the resource was among them
   */
  async isShown(found: ResourceName, written?: Reach): Promise<boolean> {
    const granted = await this.access.decider.rowsOf(readOf(found));
    if (granted === undefined) return false;
    const limit = await this.limits.of(granted);
    if (limit === undefined) return true;
    // Usually the same policies grant both. Then the write has tested the row, also of a resource that is deleted now.
    if (written?.rows !== undefined && isSameTest(found, limit, written.rows)) return true;
    try {
      return await this.rows.isGranted(limit, found);
    } catch (error) {
      // The policies granted the write, so it must not fail because an index that the read needs is incomplete.
      if (error instanceof ServiceError && error.kind === 'busy') return false;
      throw error;
    }
  }
}

const isSameTest = ({ type }: ResourceName, one: RowLimit, other: RowLimit): boolean =>
  !one.isUnfinished(type) && !other.isUnfinished(type) && isDeepStrictEqual(one.clauseOf(type), other.clauseOf(type));
