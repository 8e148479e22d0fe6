import { dateSpanOf, earliestInstant, latestInstant } from '../../fhir/instant';
import { localKey, parseReference } from '../../fhir/reference';
import { ServiceError } from '../../platform/errors/service-error';
import { systemHashOf, targetHashOf, tokenHashOf } from './extract/hash';
import { type SearchParameter } from './extract/search-parameter';
import { type SearchParameterSet } from './extract/search-parameter-set';
import { type InstantRange, type SearchClause } from './search-query';

/** Parameters that shape the answer and not the matches; they are read where the answer is made. */
const RESULT_PARAMETERS = new Set(['_count', '_total', '_after', '_format', '_pretty']);

/** Parameters of R4 that a client may rightly expect; they are refused by name until they work. */
const LATER = new Set([
  '_sort',
  '_include',
  '_revinclude',
  '_elements',
  '_summary',
  '_contained',
  '_explain',
  '_has',
  '_filter',
  '_list',
  '_query',
]);

/** More clauses than any client sends by hand; each costs a probe per candidate row. */
const MAX_CLAUSES = 32;

export interface ParsedSearch {
  readonly clauses: readonly SearchClause[];
  /** The parameters that were used, as sent: what the `self` link shows. */
  readonly used: readonly (readonly [name: string, value: string])[];
}

export interface SearchScope {
  readonly type: string;
  readonly parameters: SearchParameterSet;
  readonly baseUrl: string;
  /** Whether unknown parameters are ignored instead of refused. */
  readonly isLenient: boolean;
}

/**
 * Reads the parameters of a search (http://hl7.org/fhir/R4/search.html).
 * @throws ServiceError 'invalid' naming the parameter that is unknown or malformed.
 */
export function parseSearch(query: URLSearchParams, scope: SearchScope): ParsedSearch {
  const clauses: SearchClause[] = [];
  const used: [string, string][] = [];
  for (const [name, value] of query) {
    if (RESULT_PARAMETERS.has(name) || value === '') continue; // an empty value asks for nothing
    const clause = clauseOf(name, value, scope);
    if (clause === undefined) continue;
    clauses.push(clause);
    used.push([name, value]);
  }
  if (clauses.length > MAX_CLAUSES)
    throw new ServiceError('invalid', `A search takes at most ${MAX_CLAUSES} parameters.`);
  return { clauses, used };
}

function clauseOf(name: string, value: string, scope: SearchScope): SearchClause | undefined {
  const [code = '', modifier] = name.split(':', 2);
  if (LATER.has(code)) throw new ServiceError('invalid', `"${code}" is not supported yet.`);
  if (code === '_id' || code === '_lastUpdated') {
    if (modifier !== undefined) throw unsupportedModifier(name);
    const values = alternativesOf(value);
    return code === '_id'
      ? { kind: 'id', ids: values.map(unescaped) }
      : { kind: 'updated', ranges: values.map(updatedRange) };
  }
  const parameter = scope.parameters.find(scope.type, code);
  if (parameter === undefined) {
    if (scope.isLenient) return undefined;
    throw unknownParameter(code, scope);
  }
  switch (parameter.kind) {
    case 'token':
    case 'uri':
      if (modifier !== undefined) throw unsupportedModifier(name);
      return { kind: 'token', tokens: alternativesOf(value).flatMap((text) => tokensOf(parameter, text)) };
    case 'reference':
      return {
        kind: 'reference',
        links: alternativesOf(value).flatMap((text) => linksOf(parameter, text, modifier, scope)),
      };
    case 'number':
    case 'date':
    case 'string':
    case 'composite':
    case 'quantity':
    case 'special':
      throw new ServiceError(
        'invalid',
        `Search by ${parameter.kind} parameters such as "${code}" is not supported yet.`,
      );
  }
}

/** Values separated by commas are alternatives; `\,` is a comma of the value (http://hl7.org/fhir/R4/search.html#escaping). */
function alternativesOf(value: string): string[] {
  return splitOutsideEscapes(value, ',');
}

function splitOutsideEscapes(text: string, separator: string): string[] {
  const parts: string[] = [];
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    const character = text.charAt(i);
    if (character === '\\') i++;
    if (character !== separator) continue;
    parts.push(text.slice(start, i));
    start = i + 1;
  }
  return [...parts, text.slice(start)];
}

const unescaped = (text: string): string => text.replace(/\\([\\,|$])/g, '$1');

/** `code`, `system|code` or `|code`. */
function tokensOf({ kind, storedAs }: SearchParameter, text: string): { hash: number; systemHash?: number }[] {
  // The value of a uri is one text, in which a bar has no meaning.
  const [first = '', second] = kind === 'uri' ? [text] : splitOutsideEscapes(text, '|').map(unescaped);
  const code = second ?? first;
  if (code === '')
    throw new ServiceError('invalid', 'Search by a system alone ("system|") is not supported yet; name the code too.');
  return storedAs.map((parameterId) => ({
    hash: tokenHashOf(parameterId, code),
    ...(second === undefined ? {} : { systemHash: systemHashOf(first) }),
  }));
}

/** `Type/id`, an absolute URL, or an id alone, for which the modifier or the parameter names the types. */
function linksOf(
  { code, storedAs, narrowedTo, targets }: SearchParameter,
  text: string,
  modifier: string | undefined,
  { baseUrl, type }: SearchScope,
): { targetHash: number; parameterId: number }[] {
  const value = unescaped(text);
  const target = parseReference(value, baseUrl);
  if (modifier !== undefined && !/^[A-Z]/.test(modifier)) throw unsupportedModifier(`${code}:${modifier}`);
  if (target?.kind === 'contained')
    throw new ServiceError('invalid', `${code}: contained resources are searched with their container.`);
  const keys =
    target === undefined ? keysOfId(value, narrowedTo ?? modifier, targets, `${type}.${code}`) : [target.key];
  return keys.flatMap((key) => storedAs.map((parameterId) => ({ targetHash: targetHashOf(key), parameterId })));
}

function keysOfId(id: string, namedType: string | undefined, targets: readonly string[], parameter: string): string[] {
  const types = namedType === undefined ? targets : [namedType];
  if (types.length === 0 || !/^[A-Za-z0-9.-]{1,64}$/.test(id)) {
    throw new ServiceError('invalid', `${parameter} takes a reference such as Patient/p7.`);
  }
  return types.map((type) => localKey(type, id));
}

/** `_lastUpdated` with its prefixes (http://hl7.org/fhir/R4/search.html#prefix); times are stored in milliseconds. */
function updatedRange(text: string): InstantRange {
  const [, prefix = 'eq', date = ''] = /^(eq|gt|ge|lt|le|sa|eb)?(.*)$/.exec(text) ?? [];
  const span = dateSpanOf(date);
  if (span === undefined)
    throw new ServiceError('invalid', '_lastUpdated takes a date or time such as gt2026-01-31T10:00:00Z.');
  switch (prefix) {
    case 'gt':
    case 'sa':
      return { low: Math.min(span.high + 1, latestInstant), high: Infinity };
    case 'ge':
      return { low: span.low, high: Infinity };
    case 'lt':
    case 'eb':
      return { low: -Infinity, high: Math.max(span.low - 1, earliestInstant) };
    case 'le':
      return { low: -Infinity, high: span.high };
    default:
      return span;
  }
}

function unknownParameter(code: string, { type, parameters }: SearchScope): ServiceError {
  const nearest = parameters.nearestCode(type, code);
  const hint = nearest === undefined ? '' : ` Did you mean "${nearest}"?`;
  return new ServiceError('invalid', `${type} has no search parameter "${code.slice(0, 64)}".${hint}`);
}

const unsupportedModifier = (name: string): ServiceError =>
  new ServiceError('invalid', `The modifier of "${name.slice(0, 80)}" is not supported yet.`);
