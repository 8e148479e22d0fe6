import { DiscoveryService } from '@nestjs/core';
import { type Resource } from '../../fhir/types';
import { type ResourceDraft } from '../../model/resource-draft';
import { type StatementPart } from '../../platform/database/statement';
import { type RowLimit } from '../../search/rows/row-limit';
import { type WriteMethod } from '../../model/stored-resource';

/** The kind of a change; a patch is an update. */
export type Interaction = 'create' | 'update' | 'delete';

/** A resource at one version, as text and as parsed value (whose numbers are doubles). */
export interface ResourceContent {
  readonly text: string;
  readonly value: Resource;
}

/** A write as passed to listeners: inside its transaction, before COMMIT. */
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
  /** For a create by a limited caller: the rows that the caller may access. @internal */
  readonly limit?: RowLimit | undefined;
}

/**
 * Receives every change of the types it names (all types if it names none), inside the change's transaction. An
 * exception vetoes the write. Effects outside of the database belong in `UnitOfWork.afterCommit`.
 */
export interface ResourceChangeListener {
  /** Whether this listener currently needs changes of `type`; called before the transaction begins. */
  concerns?(type: string): Promise<boolean>;
  onChange?(change: ResourceChange): Promise<void>;
  /** Resources to create together with the change: one statement inserts all new resources of a set of writes. */
  adds?(change: ResourceChange): Promise<readonly ResourceDraft[]>;
  /**
   * Replaces {@link onChange}: receives all changes of one set of writes in order, after the set is written and the
   * other listeners have run. A failure is not attributed to one entry of a Bundle.
   */
  onChanges?(changes: readonly ResourceChange[]): Promise<void>;
  /**
   * Replaces {@link onChange} for a create under a new id, which needs a transaction only for its listeners. Returns
   * CTEs to add to its statement. Called before the write, outside of a transaction; undefined if this listener needs
   * one.
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
