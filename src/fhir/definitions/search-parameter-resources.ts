import { createHash } from 'node:crypto';
import { readAsset } from '../../platform/assets';
import { softwareVersion } from '../../platform/software-version';
import {
  once,
  type SearchParameterDefinition,
  searchParameterDefinitions,
  searchParameterFile,
  type SharedMembers,
} from './definitions';
import { type Resource } from '../types';

const BASE = 'http://hl7.org/fhir/SearchParameter/';

/** The members of a SearchParameter in HL7's order. */
export const MEMBERS = [
  ...['id', 'text', 'extension', 'url', 'version', 'name', 'status', 'experimental', 'date', 'publisher', 'contact'],
  ...['description', 'purpose', 'code', 'base', 'type', 'expression', 'xpath', 'xpathUsage', 'target', 'multipleOr'],
  ...['comparator', 'component'],
] as const;

/** The SearchParameter of R4 with this url, reduced as {@link searchParameterDefinitions} are. */
export const definitionOfUrl = (url: unknown): SearchParameterDefinition | undefined =>
  typeof url === 'string' ? byUrl().get(url) : undefined;

const byUrl = once(
  () => new Map(searchParameterDefinitions().map((definition) => [`${BASE}${definition.id}`, definition])),
);

/** The SearchParameter of R4 that is stored under this id. */
export const definitionOfId = (id: string | undefined): SearchParameterDefinition | undefined => byId().get(id ?? '');

const byId = once(
  () => new Map(searchParameterDefinitions().map((definition) => [resourceIdOf(definition), definition])),
);

/** A SearchParameter of R4 as HL7 published it. Built at each call, since it is rarely requested and long. */
export const searchParameterResource = (definition: SearchParameterDefinition): Resource => ({
  ...expandSearchParameter(definition, searchParameterFile()),
  id: resourceIdOf(definition),
});

/**
 * The id under which a SearchParameter of R4 is stored. It is HL7's id, with one exception: an id that is longer than
 * the 64 characters that FHIR allows (http://hl7.org/fhir/R4/datatypes.html#id) is shortened.
 */
export const resourceIdOf = ({ id }: SearchParameterDefinition): string =>
  id.length > 64 ? id.replace('-extensions-', '-') : id;

/**
 * Digest of the stored SearchParameters of R4. It depends on the definitions and on the version of this server, which
 * may write them differently.
 */
export function searchParametersDigest(): string {
  const text = readAsset('fhir/definitions/search-parameters.json');
  return createHash('sha256').update(softwareVersion()).update(text).digest('hex');
}

/**
 * Merges a record with the members that it shares with other records. A member of the record itself takes precedence
 * over a shared one. A member that is null in the record is absent in the SearchParameter.
 */
export function expandSearchParameter(record: SearchParameterDefinition, shared: SharedMembers): Resource {
  const { publisher, ...own } = record as SearchParameterDefinition & { readonly publisher?: number | null };
  const all: Readonly<Record<string, unknown>> = {
    url: `${BASE}${record.id}`,
    name: record.code,
    xpath: xpathOf(record.expression),
    ...shared.common,
    ...shared.ofKind[record.type],
    ...shared.publishers[publisher ?? -1],
    ...own,
  };
  const members = MEMBERS.map((name) => [name, all[name]] as const);
  return {
    resourceType: 'SearchParameter',
    ...Object.fromEntries(members.filter(([, value]) => value !== undefined && value !== null)),
  };
}

/** The XPath of a plain path. HL7 wrote the XPaths of other expressions by hand, so the records hold them. */
const xpathOf = (expression: string | undefined): string | undefined =>
  expression
    ?.split('|')
    .map((path) => `f:${path.trim().replaceAll('.', '/f:')}`)
    .join(' | ');
