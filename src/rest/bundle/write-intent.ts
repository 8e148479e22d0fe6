import { type Condition, canonicalCondition } from '../conditional/condition';
import { type Reach } from '../../search/rows/reach';
import { type BundleEntry } from './bundle';
import { type WriteAction } from './entry-action';
import { type LinkSite } from './reference-sites';

/** A condition with a name for its matches: callers with different rows have different matches. */
export interface NamedCondition extends Condition {
  readonly canonical: string;
}

/** The rows that the caller may access for one entry or reference of a Bundle. */
export interface EntryGrant {
  readonly reach: Reach;
  /** Equal for grants of the same rows; empty for all rows. */
  readonly name: string;
}

/** A writing entry of a transaction: its request, before its resource is known. */
export interface WriteIntent {
  readonly entry: BundleEntry;
  readonly action: WriteAction;
  /** The condition that selects the resource to write, if any. */
  readonly condition: NamedCondition | undefined;
  /** The rows that the entry may write and its condition may find; undefined: all. */
  readonly granted: EntryGrant | undefined;
  /** For each type searched by its references: the rows that the caller may search. */
  readonly linked: ReadonlyMap<string, EntryGrant>;
  /** The links of each member of the resource; empty if the sent resource is not stored. */
  readonly links: readonly (readonly LinkSite[])[];
  /** The links that are references by search; usually none. */
  readonly searches: readonly string[];
}

/** Whether a link is a reference by search, such as `Practitioner?identifier=http://hl7.org/fhir/sid/us-npi|1`. */
export const isConditional = (link: string): boolean => link.includes('?') && /^[A-Z][A-Za-z]*\?./.test(link);

export function conditionOf(link: string, linked: WriteIntent['linked']): NamedCondition {
  const type = searchedTypeOf(link);
  return namedCondition({ type, criteria: link.slice(type.length + 1) }, linked.get(type));
}

/** The searched type of a reference by search. */
export const searchedTypeOf = (link: string): string => link.slice(0, link.indexOf('?'));

/** @throws ServiceError 'invalid' for criteria that select nothing */
export function namedCondition(asked: Condition, granted: EntryGrant | undefined): NamedCondition {
  const { reach, name = '' } = granted ?? {};
  return { ...asked, canonical: [canonicalCondition(asked), name].join(' ').trimEnd(), reach };
}
