import { type NativeReference } from '../../fhir/types';
import { type Verification } from '../methods/verify';
import { type FieldRow } from './field-rows';

/** The head of the record of a target. */
export interface RecordHead {
  readonly target: NativeReference;
  /** When the record was read, ISO 8601. */
  readonly readAt: string;
  /** The document or workflow as stored now; undefined when it was deleted but still has addenda. */
  readonly stored: StoredTarget | undefined;
  readonly chain: Verification;
}

export interface StoredTarget {
  readonly versionId: string;
  readonly lastUpdated: string;
  readonly status: string | undefined;
  /** The members that identify it and its patient. */
  readonly facts: readonly FieldRow[];
}

/** Members common to all addenda. */
export interface AddendumHead {
  /** 1, 2, 3 … within the target. */
  readonly sequence: number;
  readonly id: string;
  readonly type: string;
  readonly user: Person | undefined;
  /** The caller. */
  readonly recorder: Person | undefined;
  readonly date: string | undefined;
  /** Whether the chain proves it. */
  readonly isProven: boolean;
}

export interface Person {
  readonly resourceType: string;
  readonly id: string;
  readonly display?: string;
}

/** A signed body: the first one with all values, a later one with its changes. */
export interface Revision {
  readonly kind: 'revision';
  /** 1, 2, 3 … */
  readonly number: number;
  readonly addendum: AddendumHead;
  readonly status: string | undefined;
  readonly rows: Iterable<FieldRow>;
  /** Replaces the rows when they would be too many. */
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
  /** The revision in force when it was added; undefined before the first. */
  readonly revision: number | undefined;
  readonly text: string | undefined;
  /** Only for a History. */
  readonly status: string | undefined;
  /** The field that a Comment concerns, with its value at that time. */
  readonly about: FieldAtTheTime | undefined;
  /** Whether an Amendment lists the same changes as its revision; if not, `rows` contains its list. */
  readonly isAsShown: boolean | undefined;
  /** All its other members. */
  readonly rows: Iterable<FieldRow>;
}

export interface FieldAtTheTime {
  readonly path: readonly string[];
  readonly label: readonly string[];
  readonly value: FieldRow['new'] | undefined;
  /** Whether the field exists. */
  readonly isFound: boolean;
}

/** An addendum that cannot be shown. */
export interface Lost {
  readonly kind: 'lost';
  readonly sequence: number;
  readonly id: string;
  readonly reason: string;
}

export type RecordPart = Revision | Remark | Lost | UnsignedChanges;

/** Prints a record part by part. */
export interface RecordPrinter {
  head(head: RecordHead): Iterable<string>;
  part(part: RecordPart): Iterable<string>;
  /** @param count number of addenda shown */
  end(count: number): Iterable<string>;
}
