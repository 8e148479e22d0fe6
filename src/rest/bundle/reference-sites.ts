import { endOfString } from '../../platform/json/json-skip';

/** The position of a link in a JSON text: from the character after the opening quote to the closing quote. */
export interface LinkSite {
  readonly start: number;
  readonly end: number;
  /** The link without escapes. */
  readonly link: string;
}

/** The key of Reference.reference. R4 has no other member of this name with a string. */
const REFERENCE = '"reference":"';

/** The key of Bundle.entry.fullUrl, in a Bundle that is stored as a resource. */
const FULL_URL = '"fullUrl":"';

/** The end of a fullUrl that a relative reference names. */
const RELATIVE_END = /\/([A-Z][A-Za-z]*\/[A-Za-z0-9.-]{1,64})$/;

/**
 * The keys of other members of type uri or url that hold links to resources: in attachments and extensions. A urn in
 * another member, such as Identifier.value, is a name and no link.
 */
const URN_MEMBERS = ['"url":', '"valueUri":', '"valueUrl":'];

const NARRATIVE_LINK = /(?:href|src)\s*=\s*(?:\\"([^"\\]*)\\"|'([^'\\]*)')/g;

/**
 * Finds the links in the members of a resource, in order, like {@link linkSitesOf}. If the resource is or has a Bundle,
 * links to the entries of that Bundle are left out: they are resolved inside it
 * (http://hl7.org/fhir/R4/bundle.html#references), and a signature of a document covers them.
 * @param texts the values of the members, as compact JSON
 */
export function linkSitesOfResource(texts: readonly string[]): (readonly LinkSite[])[] {
  const sites = texts.map(linkSitesOf);
  if (!texts.some((text) => text.includes(FULL_URL))) return sites;
  const own = new Set(texts.flatMap(namesOfEntries));
  return sites.map((some) => some.filter(({ link }) => !own.has(linkKeyOf(link))));
}

/**
 * The text by which links are compared: a urn with a UUID or an OID is the same urn in upper and lower case (RFC 8141,
 * section 3.1; RFC 4122, section 3).
 */
export const linkKeyOf = (link: string): string => (/^urn:(?:uuid|oid):/i.test(link) ? link.toLowerCase() : link);

/** The names by which links lead to entries of a Bundle in the text: each fullUrl, and `Type/id` at its end. */
function namesOfEntries(json: string): string[] {
  return stringsAt(json, FULL_URL).flatMap(({ link }) => [
    linkKeyOf(link),
    ...(RELATIVE_END.exec(link)?.slice(1) ?? []),
  ]);
}

/**
 * Finds the links in compact JSON that a transaction may rewrite (http://hl7.org/fhir/R4/http.html#trules), in order.
 * These are references, urns in uris, and `href` and `src` of narratives. Canonicals are not rewritten.
 */
export function linkSitesOf(json: string): LinkSite[] {
  const sites = stringsAt(json, REFERENCE);
  addUrns(json, sites);
  if (json.includes('"div":"')) addNarrativeLinks(json, sites);
  return sites.length < 2 ? sites : sites.sort((a, b) => a.start - b.start);
}

/** Replaces links. A link without a replacement stays the same, byte for byte. */
export function replaceLinks(
  json: string,
  sites: readonly LinkSite[],
  replacementOf: (link: string) => string | undefined,
): string {
  let copiedTo = 0;
  let result = '';
  for (const { start, end, link } of sites) {
    const replacement = replacementOf(link);
    if (replacement === undefined || replacement === link) continue;
    result += json.slice(copiedTo, start) + JSON.stringify(replacement).slice(1, -1);
    copiedTo = end;
  }
  return copiedTo === 0 ? json : result + json.slice(copiedTo);
}

/** Finds the strings of all members with a key. The key is given with its colon and the quote of the string. */
function stringsAt(json: string, key: string): LinkSite[] {
  const sites: LinkSite[] = [];
  for (let at = json.indexOf(key); at >= 0; at = json.indexOf(key, at + key.length)) {
    // Only a brace or comma can be before the quote of a key. The same text inside a string has an escaped quote, with
    // a backslash before it.
    const before = json[at - 1];
    if (before === '{' || before === ',') sites.push(siteAt(json, at + key.length - 1));
  }
  return sites;
}

function addUrns(json: string, sites: LinkSite[]): void {
  for (const { index } of json.matchAll(/:"urn:/gi)) {
    if (URN_MEMBERS.some((member) => json.endsWith(member, index + 1))) sites.push(siteAt(json, index + 1));
  }
}

function addNarrativeLinks(json: string, sites: LinkSite[]): void {
  for (const { index, 0: all, 1: quoted, 2: apostrophed } of json.matchAll(NARRATIVE_LINK)) {
    const link = quoted ?? apostrophed ?? '';
    const start = index + all.lastIndexOf(link);
    sites.push({ start, end: start + link.length, link });
  }
}

function siteAt(json: string, quote: number): LinkSite {
  const end = endOfString(json, quote) - 1;
  const raw = json.slice(quote + 1, end);
  return { start: quote + 1, end, link: raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw };
}
