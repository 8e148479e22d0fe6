import { type StatementPart } from '../../platform/database/statement-part';
import { type ScannedJson } from '../../platform/json/read-json';
import { type ResourceDraft } from '../../model/resource-draft';
import { type Reach } from '../../search/rows/reach';
import { type LockedResource } from '../../store/resource-store';
import { type StoredResource, type WriteMethod } from '../../model/stored-resource';
import { type CheckedDraft } from './write-extensions';

/** What a write depends on. */
export interface WriteConditions {
  /** Versions of `If-Match`: the write happens only on one of them; `*` asks for any stored version. */
  readonly ifMatch?: readonly number[] | '*';
  /** Versions of `If-None-Match`: the write does not happen on any of them; `*` asks that nothing is stored. */
  readonly ifNoneMatch?: readonly number[] | '*';
  /** The rows that the caller may touch: the resource must be among them before and after. Any when absent. @internal */
  readonly reach?: Reach | undefined;
}

/** Makes the next content of a resource out of the stored text; runs while its row is locked, maybe more than once. */
export type ResourcePatch = (storedText: string) => ScannedJson | Promise<ScannedJson>;

interface WriteOfOne extends WriteConditions {
  /** Names the write to its {@link WriteGuard}: of a Bundle, the entry. */
  readonly index: number;
  readonly type: string;
  readonly id: string;
  /** The resource, where the open transaction has locked it already. */
  readonly locked?: LockedResource | undefined;
  /** The text that a condition found: a transaction that locks another one starts over. */
  readonly foundText?: string | undefined;
}

/** Stores a draft; `create` refuses an id that is taken. */
export interface StoreWrite extends WriteOfOne {
  readonly mode: 'create' | 'put';
  /** How history and events name the write. */
  readonly method: WriteMethod;
  readonly draft: ResourceDraft;
  readonly rule: CheckedDraft;
  /** Whether the server made the id up, so that nobody else can have it: nothing is looked for under it. */
  readonly isNewId: boolean;
  /** CTEs that run in the statement of the insert. */
  readonly parts?: readonly StatementPart[] | undefined;
}

/** A write whose resource is known by its id. */
export type Write =
  | StoreWrite
  /** Is made after the other writes of its set: it refers by search to what they store. */
  | (WriteOfOne & Pick<StoreWrite, 'isNewId'> & { readonly mode: 'late'; readonly make: () => Promise<StoreWrite> })
  | (WriteOfOne & {
      readonly mode: 'patch';
      readonly method: WriteMethod;
      readonly patch: ResourcePatch;
      /** Keys (`Patient/p7`) that the same set writes: references may name them. */
      readonly willExist?: ReadonlySet<string>;
    })
  | (WriteOfOne & { readonly mode: 'delete' })
  /** A conditional create that writes nothing: the resource is stored, or another write of the set creates it. */
  | (WriteOfOne & { readonly mode: 'existing' })
  /** A conditional delete that finds nothing. */
  | (WriteOfOne & { readonly mode: 'nothing' });

export interface WriteResult {
  readonly outcome: 'created' | 'updated' | 'unchanged' | 'deleted';
  /** The version that was written or found; of a deletion what was deleted. */
  readonly resource: StoredResource;
  /** The version that a deletion took, and when. */
  readonly deletion?: Pick<StoredResource, 'version' | 'updatedAt'>;
}

/** How a set reports on its writes, and what it does between two steps. */
export interface WriteGuard {
  /** Runs what concerns one write: its failure names the write. */
  at<T>(index: number, work: () => Promise<T> | T): Promise<T>;
  /** Runs `assert` for each write. @throws ServiceError for all that it refuses */
  judge(writes: readonly Write[], assert: (write: Write) => void): void;
  step(): Promise<void>;
}

/** Of a set of one write, which needs no name. */
export const ALONE: WriteGuard = {
  at: async (_index, work) => work(),
  judge: (writes, assert) => {
    writes.forEach(assert);
  },
  step: () => Promise.resolve(),
};
