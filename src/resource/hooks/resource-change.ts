import { DiscoveryService } from '@nestjs/core';
import { type Resource } from '../../fhir/types';
import { type ResourceDraft } from '../../model/resource-draft';
import { type StatementPart } from '../../platform/database/statement-part';
import { type RowLimit } from '../../search/rows/row-limit';
import { type WriteMethod } from '../../model/stored-resource';

export type Interaction = 'create' | 'update' | 'delete';

/** A resource at one version, as text and as parsed value (numbers of the value are doubles). */
export interface ResourceContent {
  readonly text: string;
  readonly value: Resource;
}

/** A write as listeners see it: inside its transaction, before COMMIT. */
export interface ResourceChange {
  readonly interaction: Interaction;
  readonly method: WriteMethod;
  readonly type: string;
  readonly id: string;
  /** The version that this change wrote. */
  readonly version: number;
  readonly updatedAt: Date;
  /** Absent for a delete. */
  readonly current?: ResourceContent;
  /** Absent for a create. */
  readonly previous?: ResourceContent;
  /** Of a create: the rows that its caller may touch, where he is limited to some. @internal */
  readonly limit?: RowLimit | undefined;
}

/**
 * Sees every change of the types it names (of all types when it names none), inside the change's transaction.
 * Throwing vetoes the write. Effects outside of the database belong into `UnitOfWork.afterCommit`.
 */
export interface ResourceChangeListener {
  /** Whether changes of `type` concern this listener at the moment; asked before the transaction is opened. */
  concerns?(type: string): Promise<boolean>;
  onChange?(change: ResourceChange): Promise<void>;
  /** Resources to create together with the change: one statement inserts all new resources of a set of writes. */
  adds?(change: ResourceChange): Promise<readonly ResourceDraft[]>;
  /**
   * Instead of {@link onChange}: changes of one set of writes at once, in their order, when all of the set is written and
   * the other listeners have seen it. A failure is not told apart by entries of a Bundle.
   */
  onChanges?(changes: readonly ResourceChange[]): Promise<void>;
  /**
   * Instead of {@link onChange}, for a create under a new id that would need no transaction but for its listeners: what
   * its statement does besides. Asked before, outside of a transaction; undefined where this listener needs one.
   * @internal
   */
  partsOf?(change: ResourceChange): Promise<readonly StatementPart[] | undefined>;
}

/** Registers a {@link ResourceChangeListener}. */
export const OnResourceChange = DiscoveryService.createDecorator<{ readonly types?: readonly string[] } | undefined>();
