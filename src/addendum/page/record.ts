import { type NativeReference } from '../../fhir/types';
import { type Verification } from '../chain/chains';
import { type FieldRow, type FieldRows } from './field-rows';

export interface RecordHead {
  readonly target: NativeReference;
  readonly readAt: string;
  /** The document or workflow as stored now; undefined when only its addenda are stored. */
  readonly stored: StoredTarget | undefined;
  /** Whether it was deleted. Otherwise, if it is not stored, it never was: `add-to-history` sends the body itself. */
  readonly isDeleted: boolean;
  readonly chain: Verification;
}

export interface StoredTarget {
  readonly versionId: string;
  readonly lastUpdated: string;
  readonly status: string | undefined;
  readonly facts: readonly FieldRow[];
}

/** The members that all addenda have, in the order in which they are shown. */
export interface AddendumHead {
  readonly sequence: number;
  readonly addendum: NativeReference;
  readonly type: string;
  readonly user: Person | undefined;
  readonly recorder: Person | undefined;
  readonly date: string | undefined;
  readonly isProven: boolean;
}

export interface Person {
  readonly resourceType: string;
  readonly id: string;
  readonly display?: string;
}

/** A signed body. The first one is shown with all its values, a later one with its changes. */
export interface Revision {
  readonly kind: 'revision';
  readonly number: number;
  readonly head: AddendumHead;
  readonly status: string | undefined;
  readonly rows: FieldRows;
  /** Why there are no rows: a text that replaces them when there would be too many. */
  readonly refusal?: string | undefined;
}

/** Changes of the stored body since the last revision, by writes that did not sign it. */
export interface UnsignedChanges {
  readonly kind: 'unsigned';
  readonly since: number;
  readonly status: string | undefined;
  readonly rows: FieldRows;
  readonly refusal?: string | undefined;
}

export interface Remark {
  readonly kind: 'remark';
  readonly head: AddendumHead;
  /** Number of the last revision when the addendum was added; undefined before the first revision. */
  readonly revision: number | undefined;
  readonly text: string | undefined;
  readonly status: string | undefined;
  /** The field that a Comment is about, with its value at that time. */
  readonly about: FieldAtTheTime | undefined;
  /** Whether an Amendment lists the changes that its revision shows. If not, `rows` has its list. */
  readonly isAsShown: boolean | undefined;
  readonly rows: FieldRows;
}

export interface FieldAtTheTime {
  readonly path: readonly string[];
  readonly label: readonly string[];
  readonly value: FieldRow['new'] | undefined;
  /** Whether the body at that time has the field. */
  readonly isFound: boolean;
}

export interface Lost {
  readonly kind: 'lost';
  readonly sequence: number;
  readonly id: string;
  readonly reason: string;
}

/** A part that begins a section of the record. */
export type Section = Revision | UnsignedChanges;

export type RecordPart = Section | Remark | Lost;

/** Prints a record. Each section has the addenda that follow its revision. */
export interface RecordPrinter {
  head(head: RecordHead): Iterable<string>;
  /** Ends the section before, and begins one: without a part, that of the addenda before the first revision. */
  section(part: Section | undefined, isFirst: boolean): Iterable<string>;
  addendum(part: Remark | Lost, isFirst: boolean): Iterable<string>;
  /** @param count how many addenda were printed; without any, no section was begun */
  end(count: number): Iterable<string>;
}
