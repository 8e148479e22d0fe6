import { DiscoveryService } from '@nestjs/core';
import { type Resource } from '../../fhir/types';
import { type ResourceDraft } from '../../model/resource-draft';
import { type StatementPart } from '../../platform/database/statement';
import { type RowLimit } from '../../search/rows/row-limit';
import { type WriteMethod } from '../../model/stored-resource';

/** The kind of a change; a patch is an update. */
export type Interaction = 'create' | 'update' | 'delete';

/** A version of a resource as text and as parsed value; numbers of the value are doubles. */
export interface ResourceContent {
  readonly text: string;
  readonly value: Resource;
}

/** A write that listeners receive inside its transaction, before COMMIT. */
export interface ResourceChange {
  readonly interaction: Interaction;
  readonly method: WriteMethod;
  readonly type: string;
  readonly id: string;
  /** The version that this change wrote. */
  readonly version: number;
  readonly updatedAt: Date;
  /** The new content; absent for a delete. */
  readonly current?: ResourceContent;
  /** The content before the change; absent for a create. */
  readonly previous?: ResourceContent;
  /**
   * The rows that the caller may access; set for a create by a caller who may not access all rows.
   * @internal
   */
  readonly limit?: RowLimit | undefined;
}

/**
 * Receives every change of the types that its decorator names (all types if it names none), inside the transaction of
 * the change. An exception cancels the write. Effects outside of the database belong in `UnitOfWork.afterCommit`.
 */
export interface ResourceChangeListener {
  /** Whether this listener now needs changes of `type`. It is called before the transaction begins. */
  concerns?(type: string): Promise<boolean>;
  onChange?(change: ResourceChange): Promise<void>;
  /** Resources to create together with the change. One statement inserts all new resources of a set of writes. */
  adds?(change: ResourceChange): Promise<readonly ResourceDraft[]>;
  /**
   * Used instead of {@link onChange}. It receives all changes of one set of writes in order, after the set was written
   * and the other listeners ran. An error is not reported for a single entry of a Bundle.
   */
  onChanges?(changes: readonly ResourceChange[]): Promise<void>;
  /**
   * Used instead of {@link onChange} for a create under a new id, which needs a transaction only because of its
   * listeners. Returns CTEs that are added to the statement of the create; undefined if this listener needs a
   * transaction. It is called before the write, outside of a transaction.
   * @internal
   */
  partsOf?(change: ResourceChange): Promise<readonly StatementPart[] | undefined>;
}

/**
 * Registers a {@link ResourceChangeListener}.
 * @example
 * &#64;Injectable()
 * &#64;OnResourceChange({ types: ['Ward'] })
 * export class ClosedWards implements ResourceChangeListener {
 *   async onChange({ interaction }: ResourceChange): Promise<void> {
 *     if (interaction === 'delete') throw new ServiceError('conflict', 'Set the ward inactive instead.');
 *   }
 * }
 */
export const OnResourceChange = DiscoveryService.createDecorator<{ readonly types?: readonly string[] } | undefined>();
