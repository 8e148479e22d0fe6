import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { ServiceError } from '../../platform/errors/service-error';
import { EntryAccesses } from '../../resource/access/entry-access.registry';
import { readOf } from '../../resource/access/entry-access';
import { type ResourceName } from '../../model/stored-resource';
import { RowCheck } from '../../resource/rows/row-check';
import { RowLimits } from '../../resource/rows/row-limits';
import { type Reach } from '../../search/rows/reach';
import { type RowLimit } from '../../search/rows/row-limit';

/**
 * Decides whether the answer to a write shows content that the caller did not send: the resource that the condition of
 * a create found, or that was patched or deleted. The policies granted the write. To show the content needs the grant
 * of a read.
 */
@Injectable()
export class ShownContent {
  constructor(
    private readonly access: EntryAccesses,
    private readonly limits: RowLimits,
    private readonly rows: RowCheck,
  ) {}

  /** @param written the rows granted to the write; the resource was among them */
  async isShown(found: ResourceName, written?: Reach): Promise<boolean> {
    const granted = await this.access.rowsOf(readOf(found));
    if (granted === undefined) return false;
    const limit = await this.limits.of(granted);
    if (limit === undefined) return true;
    // Usually the same policies grant both. Then the write has tested the row, also of a resource that is deleted now.
    if (written?.rows !== undefined && isSameTest(found, limit, written.rows)) return true;
    try {
      return await this.rows.isGranted(limit, found);
    } catch (error) {
      // The write is committed, so its answer must not fail because an index that the read needs is incomplete.
      if (error instanceof ServiceError && error.kind === 'busy') return false;
      throw error;
    }
  }
}

const isSameTest = ({ type }: ResourceName, one: RowLimit, other: RowLimit): boolean =>
  !one.isUnfinished(type) && !other.isUnfinished(type) && isDeepStrictEqual(one.clauseOf(type), other.clauseOf(type));
