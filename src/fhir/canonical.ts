import { type Resource } from './types';

/** A canonical as it is sent: `url`, `url|version`, with a fragment or without (http://hl7.org/fhir/R4/references.html#canonical). */
export interface Canonical {
  readonly url: string;
  readonly version?: string;
}

/** The parts of a canonical; a fragment belongs to neither. */
export function parseCanonical(text: string): Canonical {
  const [url = '', version] = text.replace(/(?<=.)#.*/, '').split('|');
  return version === undefined || version === '' ? { url } : { url, version };
}

/** The target of a canonical without a version: of all resources with its URL the one that was stored last. */
export const latestOf = <R extends Resource>(resources: readonly R[]): R | undefined =>
  resources.reduce<R | undefined>((last, one) => (updatedAt(one) > updatedAt(last) ? one : last), resources[0]);

const updatedAt = (resource: Resource | undefined): string => resource?.meta?.lastUpdated ?? '';
