import { type Verification } from '../methods/verify';
import { type DiffEntry } from '../snapshot-diff';

/** Everything that the page shows, and what is answered as JSON. */
export interface AmendmentsView {
  /** `SDCDocument/vitals-9` */
  readonly target: string;
  /** Present while the target is stored. */
  readonly stored?: {
    readonly type?: string;
    readonly status?: string;
    readonly patient?: string;
    readonly encounter?: string;
  };
  readonly chain: Verification;
  /** How many of the first addenda are left out of `entries`. */
  readonly left_out: number;
  readonly entries: readonly ViewEntry[];
}

export interface Person {
  readonly reference: string;
  readonly display?: string;
}

/** One addendum. */
export interface ViewEntry {
  /** Its place among the addenda of the target. */
  readonly number: number;
  readonly id: string;
  readonly type: string;
  /** UTC. */
  readonly date: string;
  readonly user: Person;
  /** Who made the call, where that is somebody else. */
  readonly recorder?: Person;
  readonly status?: string;
  /** Of a History with a snapshot: 1, 2, 3 … */
  readonly revision?: number;
  /** Of an Amendment: the revisions that were compared; 0 for one that is not known any more. */
  readonly revisions?: { readonly old: number; readonly new: number };
  readonly changes?: readonly ViewChange[];
  readonly text?: string;
  /** Of a Comment: what it is about. */
  readonly field?: ViewField;
  /** All other members, as JSON text. */
  readonly more?: Readonly<Record<string, string>>;
}

export interface ViewField {
  readonly label: string;
  readonly path: readonly string[];
}

export interface ViewChange extends ViewField, Omit<DiffEntry, 'path'> {
  readonly 'old-unit'?: string;
  readonly 'new-unit'?: string;
  /** Numbers of the Comments about it. */
  readonly comments: readonly number[];
}
