import { faultAt } from './entry-faults';
import { linkKeyOf } from './reference-sites';

/**
 * Maps the fullUrl of each entry of a transaction to the reference that replaces it, so that links can be rewritten.
 */
export class BundleLinks {
  private readonly targets = new Map<string, string>();

  /** @throws ServiceError 'invalid' if two resources have the same fullUrl */
  add(fullUrl: string, target: string): void {
    const known = this.targets.get(linkKeyOf(fullUrl));
    if (known !== undefined && known !== target)
      throw faultAt('fullUrl', 'Two resources have this fullUrl. Give each entry a different one.');
    this.targets.set(linkKeyOf(fullUrl), target);
  }

  /**
   * The replacement of a link in the entry `fullUrl`: `Type/id` of an entry of the transaction. Undefined if the link
   * leads to no entry. A relative link is resolved against the base of that entry
   * (http://hl7.org/fhir/R4/bundle.html#references).
   */
  targetOf(link: string, fullUrl: string | undefined): string | undefined {
    const direct = this.targets.get(linkKeyOf(link));
    if (direct !== undefined || fullUrl === undefined || !RELATIVE.test(link)) return direct;
    const base = RESTFUL.exec(fullUrl)?.[1];
    return base === undefined ? undefined : this.targets.get(base + link);
  }
}

const RELATIVE = /^[A-Z][A-Za-z]*\/[A-Za-z0-9.-]{1,64}$/;
const RESTFUL = /^(https?:\/\/.*\/)[A-Z][A-Za-z]*\/[A-Za-z0-9.-]{1,64}$/;
