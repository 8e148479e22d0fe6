import { type JsonMember } from '../../platform/json/json-members';
import { type EntryFaults } from './entry-faults';

/** http://hl7.org/fhir/R4/valueset-bundle-type.html; Bundles of other types cannot be processed. */
export type BundleType = 'transaction' | 'batch' | 'collection';

/** A Bundle to process. */
export interface Bundle {
  readonly type: BundleType;
  readonly entries: readonly BundleEntry[];
  /** Faults of entries found so far; none for a batch. */
  readonly faults: EntryFaults;
}

export interface BundleEntry {
  /** From 0, as in the expression of an error. */
  readonly index: number;
  readonly fullUrl: string | undefined;
  readonly resource: EntryResource | undefined;
  readonly request: EntryRequest;
}

/** The resource of an entry as text; parsed later, when the replacements of its references are known. */
export interface EntryResource {
  /** `resourceType`, if it is a string. */
  readonly type: string | undefined;
  readonly id: string | undefined;
  readonly members: readonly JsonMember[];
}

/** Bundle.entry.request; names as in http://hl7.org/fhir/R4/bundle-definitions.html#Bundle.entry.request */
export interface EntryRequest {
  readonly method: string;
  readonly url: string;
  readonly ifMatch?: string;
  readonly ifNoneMatch?: string;
  readonly ifModifiedSince?: string;
  readonly ifNoneExist?: string;
}
