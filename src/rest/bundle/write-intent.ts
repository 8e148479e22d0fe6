import { type Condition, canonicalCondition } from '../conditional/condition';
import { type Reach } from '../../search/rows/reach';
import { type BundleEntry } from './bundle';
import { type WriteAction } from './entry-action';
import { type LinkSite } from './reference-sites';

/** A condition with the name of what it finds: who sees other rows finds something else. */
export interface NamedCondition extends Condition {
  readonly canonical: string;
}

/** What the caller may touch in one place of a Bundle. */
export interface EntryGrant {
  readonly reach: Reach;
  /** The same for grants of the same rows; empty for all rows. */
  readonly name: string;
}

/** A writing entry of a transaction: what it asks for, before it is known which resource that is. */
export interface WriteIntent {
  readonly entry: BundleEntry;
  readonly action: WriteAction;
  /** What decides which resource is written, if any. */
  readonly condition: NamedCondition | undefined;
  /** What the entry may write, and its condition may find; undefined: anything. */
  readonly granted: EntryGrant | undefined;
  /** What its references by search may find, for each type that they search: what the caller may search. */
  readonly linked: ReadonlyMap<string, EntryGrant>;
  /** The links of each member of the resource; empty for what is not stored as sent. */
  readonly links: readonly (readonly LinkSite[])[];
  /** Those of them that are references by search; mostly none. */
  readonly searches: readonly string[];
}

/** A reference by search, such as `Practitioner?identifier=http://hl7.org/fhir/sid/us-npi|1`. */
export const isConditional = (link: string): boolean => link.includes('?') && /^[A-Z][A-Za-z]*\?./.test(link);

export function conditionOf(link: string, linked: WriteIntent['linked']): NamedCondition {
  const type = searchedTypeOf(link);
  return namedCondition({ type, criteria: link.slice(type.length + 1) }, linked.get(type));
}

/** The type that a reference by search searches. */
export const searchedTypeOf = (link: string): string => link.slice(0, link.indexOf('?'));

/** @throws ServiceError 'invalid' for criteria that decide nothing */
export function namedCondition(asked: Condition, granted: EntryGrant | undefined): NamedCondition {
  const { reach, name = '' } = granted ?? {};
  return { ...asked, canonical: [canonicalCondition(asked), name].join(' ').trimEnd(), reach };
}
