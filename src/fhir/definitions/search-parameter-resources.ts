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

/** The SearchParameter of R4 with this url, reduced as in {@link searchParameterDefinitions}. */
export function definitionOfUrl(url: unknown): SearchParameterDefinition | undefined {
  return typeof url === 'string' ? byUrl().get(url) : undefined;
}

const byUrl = once(
  () => new Map(searchParameterDefinitions().map((definition) => [`${BASE}${definition.id}`, definition])),
);

/** The SearchParameter of R4 stored under this id. */
export function definitionOfId(id: string | undefined): SearchParameterDefinition | undefined {
  return byId().get(id ?? '');
}

const byId = once(
  () => new Map(searchParameterDefinitions().map((definition) => [resourceIdOf(definition), definition])),
);

/**
 * A SearchParameter of R4 as published by HL7. Built at each call, since it is rarely requested and the texts are long.
 */
export const searchParameterResource = (definition: SearchParameterDefinition): Resource => ({
  ...expandSearchParameter(definition, searchParameterFile()),
  id: resourceIdOf(definition),
});

/** HL7's id, except for the one longer than the 64 characters of an id (http://hl7.org/fhir/R4/datatypes.html#id). */
export const resourceIdOf = ({ id }: SearchParameterDefinition): string =>
  id.length > 64 ? id.replace('-extensions-', '-') : id;

/** Depends on the definitions and on the server version, which may write them differently. */
export function searchParametersDigest(): string {
  const text = readAsset('fhir/definitions/search-parameters.json');
  return createHash('sha256').update(softwareVersion()).update(text).digest('hex');
}

/**
 * Merges a record with the members that it shares with others. The record wins; its null means that it has no such
 * member.
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

/** Only for plain paths; HL7 wrote the others by hand. */
const xpathOf = (expression: string | undefined): string | undefined =>
  expression
    ?.split('|')
    .map((path) => `f:${path.trim().replaceAll('.', '/f:')}`)
    .join(' | ');
