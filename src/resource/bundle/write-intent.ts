import { type Condition } from '../conditional/condition';
import { type ResourceDraft } from '../resource-draft';
import { type BundleEntry } from './bundle';
import { type WriteAction } from './entry-action';
import { type LinkSite } from './reference-sites';

/** A writing entry of a transaction: what it asks for, before it is known which resource that is. */
export interface WriteIntent {
  readonly entry: BundleEntry;
  readonly action: WriteAction;
  /** What decides which resource is written, if any. */
  readonly condition: (Condition & { readonly canonical: string }) | undefined;
  /** The links of each member of the resource; empty for what is not stored as sent. */
  readonly links: readonly (readonly LinkSite[])[];
}

/** Makes a draft of the intent's resource; `linkOf` tells what a link becomes. */
export type MakeDraft = (intent: WriteIntent, linkOf: (link: string) => string | undefined) => ResourceDraft;

/** A reference by search, such as `Practitioner?identifier=http://hl7.org/fhir/sid/us-npi|1`. */
export const isConditional = (link: string): boolean => /^[A-Z][A-Za-z]*\?./.test(link);

export function conditionOf(link: string): Condition {
  const at = link.indexOf('?');
  return { type: link.slice(0, at), criteria: link.slice(at + 1) };
}
