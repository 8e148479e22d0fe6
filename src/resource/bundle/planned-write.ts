import { type ResourceDraft } from '../resource-draft';
import { type ResourcePatch, type WriteOptions } from '../resource-writer';
import { type StoredResource } from '../stored-resource';
import { type CheckedDraft } from '../write-extensions';

interface Planned {
  /** Of the entry. */
  readonly index: number;
  readonly type: string;
  readonly id: string;
  readonly options: WriteOptions;
  /** The text that the entry's condition found: a transaction that holds another one starts over. */
  readonly foundText?: string;
}

/** Stores a draft; `create` refuses an id that is taken. */
export interface PlannedStore extends Planned {
  readonly mode: 'create' | 'put';
  readonly method: 'POST' | 'PUT';
  readonly draft: ResourceDraft;
  readonly rule: CheckedDraft;
  /** Whether the server made the id up, so that nobody else can have it. */
  readonly isNewId: boolean;
}

/** A write whose resource is known by its id; of one transaction in the order of its entries. */
export type PlannedWrite =
  | PlannedStore
  /** As above, with references by search to what the transaction itself writes: its draft is made after the others are written. */
  | (Omit<PlannedStore, 'mode' | 'draft' | 'rule'> & {
      readonly mode: 'late';
      readonly lateMode: PlannedStore['mode'];
      readonly makeDraft: () => Promise<ResourceDraft>;
    })
  | (Planned & { readonly mode: 'patch'; readonly patch: ResourcePatch })
  | (Planned & { readonly mode: 'delete' })
  /** A conditional create that writes nothing: the resource is there, or another entry creates it. */
  | (Planned & { readonly mode: 'existing' })
  /** A conditional delete that finds nothing. */
  | (Planned & { readonly mode: 'nothing' });

/** What became of an entry; `resource` is the version that it made, found, or deleted. */
export interface EntryResult {
  readonly status: number;
  readonly resource?: StoredResource;
  /** The version that the answer names, when it is not that of `resource`: a deletion has one of its own. */
  readonly version?: number;
  readonly updatedAt?: Date;
}
