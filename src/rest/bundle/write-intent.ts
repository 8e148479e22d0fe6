import { type Condition, canonicalCondition } from '../conditional/condition';
import { type Resource } from '../../fhir/types';
import { type Reach } from '../../search/rows/reach';
import { type BundleEntry } from './bundle';
import { type WriteAction } from './entry-action';
import { type LinkSite } from './reference-sites';

export interface NamedCondition extends Condition {
  /**
   * The name under which its matches are kept. It includes the rows of the caller, since the matches depend on them.
   */
  readonly canonical: string;
}

export interface EntryGrant {
  readonly reach: Reach;
  /** Name of these rows. Grants of the same rows have the same name; it is empty for all rows. */
  readonly name: string;
}

/** The write that an entry of a transaction requests, before its resource is determined. */
export interface WriteIntent {
  readonly entry: BundleEntry;
  readonly action: WriteAction;
  readonly condition: NamedCondition | undefined;
  /** The rows that the entry may write and its condition may find; undefined if all. */
  readonly granted: EntryGrant | undefined;
  /**
   * Decides again, for the sent resource with its links rewritten. Undefined if no policy read the resource, so
   * that the decision cannot differ.
   * @throws ServiceError 'forbidden'
   */
  readonly grantOfStored: ((resource: Resource) => Promise<EntryGrant>) | undefined;
  /** The rows that the caller may search, for each type that is searched by references of the entry. */
  readonly linked: ReadonlyMap<string, EntryGrant>;
  /** The links in each member of the sent resource. It is empty if the request stores none of them. */
  readonly links: readonly (readonly LinkSite[])[];
  /** The links that are references by search. Usually there are none. */
  readonly searches: readonly string[];
}

/** Whether a link is a reference by search, such as `Practitioner?identifier=http://hl7.org/fhir/sid/us-npi|1`. */
export const isConditional = (link: string): boolean => link.includes('?') && /^[A-Z][A-Za-z]*\?./.test(link);

export function conditionOf(link: string, linked: WriteIntent['linked']): NamedCondition {
  const type = searchedTypeOf(link);
  return namedCondition({ type, criteria: link.slice(type.length + 1) }, linked.get(type));
}

export const searchedTypeOf = (link: string): string => link.slice(0, link.indexOf('?'));

/**
 * Adds to a condition the rows that the caller may access, and their name.
 * @throws ServiceError 'invalid' if the criteria are empty, or a parameter has no value or shapes answers
 */
export function namedCondition(asked: Condition, granted: EntryGrant | undefined): NamedCondition {
  const { reach, name = '' } = granted ?? {};
  return { ...asked, canonical: [canonicalCondition(asked), name].join(' ').trimEnd(), reach };
}
