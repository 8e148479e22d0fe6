import { type Condition, canonicalCondition } from '../conditional/condition';
import { type ResourceDraft } from '../resource-draft';
import { type RowLimit } from '../rows/row-limit';
import { type BundleEntry } from './bundle';
import { type WriteAction } from './entry-action';
import { type LinkSite } from './reference-sites';

/** A condition with the name of what it finds: who sees other rows finds something else. */
export interface NamedCondition extends Condition {
  readonly canonical: string;
}

export interface EntryLimit {
  readonly limit: RowLimit;
  /** The same for entries of the same limit. */
  readonly name: string;
}

/** A writing entry of a transaction: what it asks for, before it is known which resource that is. */
export interface WriteIntent {
  readonly entry: BundleEntry;
  readonly action: WriteAction;
  /** What decides which resource is written, if any. */
  readonly condition: NamedCondition | undefined;
  /** The rows that the entry may write, and that its conditions may find; undefined: any. */
  readonly granted: EntryLimit | undefined;
  /** The links of each member of the resource; empty for what is not stored as sent. */
  readonly links: readonly (readonly LinkSite[])[];
}

/** Makes a draft of the intent's resource; `linkOf` tells what a link becomes. */
export type MakeDraft = (intent: WriteIntent, linkOf: (link: string) => string | undefined) => ResourceDraft;

/** A reference by search, such as `Practitioner?identifier=http://hl7.org/fhir/sid/us-npi|1`. */
export const isConditional = (link: string): boolean => /^[A-Z][A-Za-z]*\?./.test(link);

export function conditionOf(link: string, granted: EntryLimit | undefined): NamedCondition {
  const at = link.indexOf('?');
  return namedCondition({ type: link.slice(0, at), criteria: link.slice(at + 1) }, granted);
}

/** @throws ServiceError 'invalid' for criteria that decide nothing */
export function namedCondition(asked: Condition, granted: EntryLimit | undefined): NamedCondition {
  const canonical = canonicalCondition(asked);
  return granted === undefined
    ? { ...asked, canonical }
    : { ...asked, canonical: `${canonical} ${granted.name}`, limit: granted.limit };
}
