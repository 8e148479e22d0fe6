import { type StatementPart } from '../../platform/database/statement';
import { type ScannedJson } from '../../platform/json/read-json';
import { type ResourceDraft } from '../../model/resource-draft';
import { type Reach } from '../../search/rows/reach';
import { type LockedResource } from '../../store/resource-store';
import { type StoredResource, type WriteMethod } from '../../model/stored-resource';
import { type CheckedDraft } from './write-extensions';

/** The preconditions of a write. */
export interface WriteConditions {
  /** The versions in `If-Match`: the stored version must be one of them. `*` requires any stored version. */
  readonly ifMatch?: readonly number[] | '*';
  /** The versions in `If-None-Match`: the stored version must be none of them. `*` requires that nothing is stored. */
  readonly ifNoneMatch?: readonly number[] | '*';
  /**
   * The rows that the caller may access. The resource must be among them before and after the write. Absent if all.
   * @internal
   */
  readonly reach?: Reach | undefined;
}

/** Makes the new content from the stored text. It runs while the row is locked, and may run more than once. */
export type ResourcePatch = (storedText: string) => ScannedJson | Promise<ScannedJson>;

export interface WriteOfOne extends WriteConditions {
  /** The number by which {@link WriteGuard} reports errors: the index of a Bundle's entry. */
  readonly index: number;
  readonly type: string;
  readonly id: string;
  /** The resource, if the open transaction has already locked it. */
  readonly locked?: LockedResource | undefined;
  /** The text that a condition found. If the locked text differs, the transaction starts over. */
  readonly foundText?: string | undefined;
}

/** Stores a draft; `create` refuses an id that is in use. */
export interface StoreWrite extends WriteOfOne {
  readonly mode: 'create' | 'put';
  /** The method that the history and events show. */
  readonly method: WriteMethod;
  readonly draft: ResourceDraft;
  readonly rule: CheckedDraft;
  /** Whether the server generated the id. Such an id needs no lookup. */
  readonly isNewId: boolean;
  /** CTEs that run together with the insert, in its statement. */
  readonly parts?: readonly StatementPart[] | undefined;
}

export interface PatchWrite extends WriteOfOne {
  readonly mode: 'patch';
  readonly method: WriteMethod;
  readonly patch: ResourcePatch;
  /** Keys (`Patient/p7`) that the same set writes; references may name them. */
  readonly willExist?: ReadonlySet<string>;
}

/** A write of a resource with a known id. */
export type Write =
  | StoreWrite
  | PatchWrite
  /** Made after the other writes of its set, since it has references by search to their resources. */
  | (WriteOfOne & {
      readonly mode: 'late';
      readonly makes: LinkedWrite['mode'];
      readonly isNewId: boolean;
      readonly make: () => Promise<LinkedWrite>;
    })
  | (WriteOfOne & { readonly mode: 'delete' })
  /**
   * A conditional create that writes nothing, because its resource is stored or another write of the set creates it.
   */
  | (WriteOfOne & { readonly mode: 'existing' })
  /** A conditional delete that matches nothing. */
  | (WriteOfOne & { readonly mode: 'nothing' });

/** A write whose content may refer to other resources of its set. */
export type LinkedWrite = StoreWrite | PatchWrite;

export interface WriteResult {
  readonly outcome: 'created' | 'updated' | 'unchanged' | 'deleted';
  /** The written or found version; after a deletion, the deleted version. */
  readonly resource: StoredResource;
  /** Version number and time of the deletion. A deletion has its own version number, after that of `resource`. */
  readonly deletion?: Pick<StoredResource, 'version' | 'updatedAt'>;
}

/**
 * Reports an error in a set of writes together with the write that caused it. It also runs code between two steps of
 * the set, such as a check of the time limit.
 */
export interface WriteGuard {
  /** Runs the work for one write, so that an error names the write. */
  at<T>(index: number, work: () => Promise<T> | T): Promise<T>;
  /**
   * Runs `assert` for each write.
   * @throws ServiceError that reports all refused writes
   */
  judge(writes: readonly Write[], assert: (write: Write) => void): void;
  step(): Promise<void>;
}
