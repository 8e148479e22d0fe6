import { type JsonMember } from '../../platform/json/json-members';
import { type EntryFaults } from './entry-faults';

/** http://hl7.org/fhir/R4/valueset-bundle-type.html; the other types are not something to do. */
export type BundleType = 'transaction' | 'batch' | 'collection';

/** A Bundle that is to be processed. */
export interface Bundle {
  readonly type: BundleType;
  readonly entries: readonly BundleEntry[];
  /** What is wrong with entries so far; of a batch none is. */
  readonly faults: EntryFaults;
}

export interface BundleEntry {
  /** From 0, as the expression of an error names it. */
  readonly index: number;
  readonly fullUrl: string | undefined;
  readonly resource: EntryResource | undefined;
  readonly request: EntryRequest;
}

/** The resource of an entry as text; it is parsed once it is known what its references become. */
export interface EntryResource {
  /** `resourceType`, when it is a string. */
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
