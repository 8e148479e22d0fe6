import { type JsonMember } from '../../platform/json/json-members';
import { type EntryFaults } from './entry-faults';

/** The types of Bundles that can be processed; R4 has more (http://hl7.org/fhir/R4/valueset-bundle-type.html). */
export type BundleType = 'transaction' | 'batch' | 'collection';

export interface Bundle {
  readonly type: BundleType;
  readonly entries: readonly BundleEntry[];
  /** Faults that were found in entries so far. A batch has none, since each of its entries is answered separately. */
  readonly faults: EntryFaults;
}

export interface BundleEntry {
  /** Number of the entry from 0, as expressions of errors show it. */
  readonly index: number;
  readonly fullUrl: string | undefined;
  readonly resource: EntryResource | undefined;
  readonly request: EntryRequest;
}

/** The resource of an entry as text. It is parsed later, when the replacements of its references are known. */
export interface EntryResource {
  /** The value of `resourceType`; undefined if it is no string. */
  readonly type: string | undefined;
  readonly id: string | undefined;
  readonly members: readonly JsonMember[];
}

/**
 * The request of an entry. Its names are those of http://hl7.org/fhir/R4/bundle-definitions.html#Bundle.entry.request
 */
export interface EntryRequest {
  readonly method: string;
  readonly url: string;
  readonly ifMatch?: string;
  readonly ifNoneMatch?: string;
  readonly ifModifiedSince?: string;
  readonly ifNoneExist?: string;
}

/** The sender of a Bundle, and the form that the sender requests for the answer. */
export interface BundleCall {
  /** The root to which the Bundle was sent, and on which its entries are processed: `/fhir` or the empty text. */
  readonly root: string;
  /** URL of the root. The `location` of each written resource begins with it. */
  readonly rootUrl: string;
  readonly authorization: string | undefined;
  readonly prefer: string | undefined;
  /**
   * Whether the sender is the server itself, for the Bundle that it processes at start. No policy limits the server.
   */
  readonly isSystem: boolean;
}
