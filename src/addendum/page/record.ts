import { type NativeReference } from '../../fhir/types';
import { type Verification } from '../methods/verify';
import { type FieldRow } from './field-rows';

/** The head of the record of a target. */
export interface RecordHead {
  readonly target: NativeReference;
  /** When the record was read, ISO 8601. */
  readonly readAt: string;
  /** The document or workflow as it is stored now; undefined when it was deleted and its addenda are left. */
  readonly stored: StoredTarget | undefined;
  readonly chain: Verification;
}

export interface StoredTarget {
  readonly versionId: string;
  readonly lastUpdated: string;
  readonly status: string | undefined;
  /** The members that say what it is and about whom. */
  readonly facts: readonly FieldRow[];
}

/** The members of all addenda. */
export interface AddendumHead {
  /** 1, 2, 3 … of the target. */
  readonly sequence: number;
  readonly id: string;
  readonly type: string;
  readonly user: Person | undefined;
  /** The caller. */
  readonly recorder: Person | undefined;
  readonly date: string | undefined;
  /** Whether the chain vouches for it. */
  readonly isProven: boolean;
}

export interface Person {
  readonly resourceType: string;
  readonly id: string;
  readonly display?: string;
}

/** A body that was signed: the first one with all values, a later one with what changed. */
export interface Revision {
  readonly kind: 'revision';
  /** 1, 2, 3 … */
  readonly number: number;
  readonly addendum: AddendumHead;
  readonly status: string | undefined;
  readonly rows: Iterable<FieldRow>;
  /** Instead of rows, where they would be too many. */
  readonly refusal?: string | undefined;
}

/** Changes of the stored body since the last revision, by writes that do not sign. */
export interface UnsignedChanges {
  readonly kind: 'unsigned';
  readonly since: number;
  readonly status: string | undefined;
  readonly rows: Iterable<FieldRow>;
  readonly refusal?: string | undefined;
}

/** An addendum that is no revision. */
export interface Remark {
  readonly kind: 'remark';
  readonly addendum: AddendumHead;
  /** The revision that stood when it was added; undefined before the first. */
  readonly revision: number | undefined;
  readonly text: string | undefined;
  /** Of a History. */
  readonly status: string | undefined;
  /** The field that a Comment is about, as it was then. */
  readonly about: FieldAtTheTime | undefined;
  /** Whether an Amendment lists the changes that its revision shows; where it does not, `rows` are what it lists. */
  readonly isAsShown: boolean | undefined;
  /** Whatever else it holds. */
  readonly rows: Iterable<FieldRow>;
}

export interface FieldAtTheTime {
  readonly path: readonly string[];
  readonly label: readonly string[];
  readonly value: FieldRow['new'] | undefined;
  /** Whether there is such a field. */
  readonly isFound: boolean;
}

/** An addendum of which nothing can be shown. */
export interface Lost {
  readonly kind: 'lost';
  readonly sequence: number;
  readonly id: string;
  readonly reason: string;
}

export type RecordPart = Revision | Remark | Lost | UnsignedChanges;

/** Prints a record as it is read. */
export interface RecordPrinter {
  head(head: RecordHead): Iterable<string>;
  part(part: RecordPart): Iterable<string>;
  /** @param count how many addenda were shown */
  end(count: number): Iterable<string>;
}
