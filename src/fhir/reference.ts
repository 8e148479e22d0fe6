import { type Resource } from './types';

/** The target of a reference. `key` is its normalized form; index rows hold the hash of `key`. */
export type ReferenceTarget =
  | {
      readonly kind: 'local';
      readonly key: string;
      readonly type: string;
      readonly id: string;
      readonly version?: string;
    }
  | { readonly kind: 'absolute'; readonly key: string; readonly type?: string; readonly version?: string }
  | { readonly kind: 'urn'; readonly key: string }
  | { readonly kind: 'contained'; readonly id: string };

// Syntax of http://hl7.org/fhir/R4/datatypes.html#id and references.html#literal. The type may also be one that R4 does
// not define.
const idSyntax = /^[A-Za-z0-9\-.]{1,64}$/;
const literalSyntax = /^([A-Z][A-Za-z]*)\/([A-Za-z0-9\-.]{1,64})(?:\/_history\/([A-Za-z0-9\-.]{1,64}))?$/;
const literalAtEnd = /\/([A-Z][A-Za-z]*)\/[A-Za-z0-9\-.]{1,64}(?:\/_history\/([A-Za-z0-9\-.]{1,64}))?$/;
const absoluteSyntax = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/\S+$/;
const urnSyntax = /^urn:[A-Za-z0-9-]+:\S+$/;

export const isFhirId = (text: string): boolean => idSyntax.test(text);

/** The key of a resource of this server: `Patient/p7`. */
export const localKey = (type: string, id: string): string => `${type}/${id}`;

/**
 * Reads the text of a reference: `Type/id`, `Type/id/_history/v`, an absolute URL, a URN or `#contained`. A URL below
 * the server's base URL is local, with and without `/fhir`. Keys never contain the version.
 * @param baseUrl the server's base URL, without a trailing slash
 * @returns undefined for other forms, such as the conditional `Patient?identifier=…`
 */
export function parseReference(text: string, baseUrl: string): ReferenceTarget | undefined {
  const local = parseLiteral(text);
  if (local !== undefined) return local;
  if (text.startsWith('#')) return { kind: 'contained', id: text.slice(1) };
  if (urnSyntax.test(text)) return { kind: 'urn', key: text };
  if (!absoluteSyntax.test(text)) return undefined;
  return parseOwnUrl(text, baseUrl) ?? parseForeignUrl(text);
}

/**
 * Reads a reference in FHIR's form `{reference}`, or in the form `{resourceType, id}` of this server's own types.
 * @param baseUrl the server's base URL, without a trailing slash
 * @returns undefined for other values, such as a reference with only an identifier
 */
export function referenceTargetOf(reference: unknown, baseUrl: string): ReferenceTarget | undefined {
  if (typeof reference !== 'object' || reference === null) return undefined;
  const { reference: text, resourceType: type, id } = reference as Record<string, unknown>;
  if (typeof text === 'string') return parseReference(text, baseUrl);
  return typeof type === 'string' && typeof id === 'string' ? parseLiteral(localKey(type, id)) : undefined;
}

export interface Canonical {
  readonly url: string;
  readonly version?: string;
}

/** URL and version of a canonical, without the fragment (http://hl7.org/fhir/R4/references.html#canonical). */
export function parseCanonical(text: string): Canonical {
  const [url = '', version] = text.replace(/(?<=.)#.*/, '').split('|');
  return version === undefined || version === '' ? { url } : { url, version };
}

/**
 * The keys by which a canonical is found: its URL, and `url|version` if it has a business version
 * (http://hl7.org/fhir/R4/references.html#canonical). The fragment is part of neither.
 * @param baseUrl the server's base URL, without a trailing slash
 */
export function canonicalKeysOf(canonical: string, baseUrl: string): readonly string[] {
  const { url, version } = parseCanonical(canonical);
  const target = parseReference(url, baseUrl);
  if (target === undefined || target.kind === 'contained') return [];
  return version === undefined ? [target.key] : [target.key, `${target.key}|${version}`];
}

/**
 * Selects the resource that was stored last. Of all resources with one URL, a canonical without a version means this
 * one.
 */
export const latestOf = <R extends Resource>(resources: readonly R[]): R | undefined =>
  resources.reduce<R | undefined>((last, one) => (updatedAt(one) > updatedAt(last) ? one : last), resources[0]);

const updatedAt = (resource: Resource | undefined): string => resource?.meta?.lastUpdated ?? '';

function parseLiteral(text: string): (ReferenceTarget & { readonly kind: 'local' }) | undefined {
  const match = literalSyntax.exec(text);
  if (match === null) return undefined;
  const [, type = '', id = '', version] = match;
  if (version === undefined) return { kind: 'local', key: text, type, id };
  return { kind: 'local', key: localKey(type, id), type, id, version };
}

function parseOwnUrl(url: string, baseUrl: string): ReferenceTarget | undefined {
  if (!url.startsWith(`${baseUrl}/`)) return undefined;
  return parseLiteral(url.slice(baseUrl.length + 1).replace(/^fhir\//, ''));
}

function parseForeignUrl(url: string): ReferenceTarget {
  const match = literalAtEnd.exec(url);
  if (match === null) return { kind: 'absolute', key: url };
  const [, type = '', version] = match;
  if (version === undefined) return { kind: 'absolute', key: url, type };
  return { kind: 'absolute', key: url.slice(0, -`/_history/${version}`.length), type, version };
}
