import { isDeepStrictEqual } from 'node:util';
import { parseCanonical } from '../../fhir/reference';
import { definitionOfUrl } from '../../fhir/definitions/search-parameter-resources';
import { type Resource } from '../../fhir/types';
import { holdsValuesOf } from '../../search-index/extract/kind-types';
import {
  CODE_RULE,
  type OwnSearchParameter,
  PARAMETER_CODE,
  type SearchParameter,
} from '../../search-index/extract/search-parameter';
import { type SearchParameterSet } from '../../search-index/extract/search-parameter-set';
import { assertAsBuiltIn } from './built-in-definition';
import { assertPairs, readComponents } from './read-components';
import { MAX_EXPRESSION, badElement, excerpt } from './refusal';

const KINDS = ['token', 'reference', 'date', 'string', 'number', 'quantity', 'uri', 'composite'] as const;
const RESERVED_CODE = /^_[A-Za-z]{1,63}$/;

/**
 * The parameters, one per type, that a SearchParameter adds to those of HL7 and of modules. It adds none if it is not
 * active, or equals a built-in one (http://hl7.org/fhir/R4/searchparameter.html).
 * @throws ServiceError 'unprocessable' with the element at fault, if it cannot be indexed
 */
export function readDefinition(value: Resource, builtIn: SearchParameterSet): readonly OwnSearchParameter[] {
  const { url, status } = value;
  if (typeof url !== 'string' || !/^[A-Za-z][A-Za-z0-9+.-]*:\S+$/.test(url))
    throw badElement('url', 'must be an absolute URI');
  if (typeof status !== 'string' || !['draft', 'active', 'retired', 'unknown'].includes(status))
    throw badElement('status', 'must be draft, active, retired or unknown');
  if (assertAsBuiltIn(value)) return [];
  if (status !== 'active') return [];
  const candidates = candidatesOf(value, builtIn);
  for (const candidate of candidates)
    if (!builtIn.defines(candidate.type, candidate.code)) assertPairs(candidate, builtIn);
  return candidates.filter((candidate) => !isBuiltIn(candidate, value.derivedFrom, builtIn));
}

function candidatesOf(
  { code, base, type, expression, target, component }: Resource,
  builtIn: SearchParameterSet,
): OwnSearchParameter[] {
  if (typeof code !== 'string' || !(PARAMETER_CODE.test(code) || RESERVED_CODE.test(code)))
    throw badElement('code', CODE_RULE);
  const kind = KINDS.find((known) => known === type);
  if (kind === undefined) throw badElement('type', `must be one of ${KINDS.join(', ')}; others cannot be indexed`);
  if (!isListOfNames(base) || base.length === 0) throw badElement('base', 'must name one resource type at least');
  const unknownBase = base.find((name) => !builtIn.has(name));
  if (unknownBase !== undefined)
    throw badElement(
      'base',
      `names "${excerpt(unknownBase)}", which is no resource type of this server; abstract types are not supported`,
    );
  if (typeof expression !== 'string' || expression.length > MAX_EXPRESSION)
    throw badElement('expression', `must be FHIRPath of ${MAX_EXPRESSION} characters at most`);
  if (target !== undefined && (!isListOfNames(target) || kind !== 'reference'))
    throw badElement('target', 'must list resource types, of a parameter of type reference');
  const unknownTarget = target?.find((name) => !builtIn.has(name));
  if (unknownTarget !== undefined)
    throw badElement('target', `names "${excerpt(unknownTarget)}", which is no resource type`);
  // FHIR reserves codes that begin with "_". A definition may repeat such a code, but not add a new one.
  const stranger = RESERVED_CODE.test(code) ? base.find((name) => !builtIn.defines(name, code)) : undefined;
  if (stranger !== undefined)
    throw badElement(
      'code',
      `begins with "_", which is reserved for FHIR, and ${excerpt(stranger)} has no such parameter`,
    );
  const components = kind === 'composite' ? readComponents(component, base) : [];
  return [...new Set(base)].map((name) => ({ type: name, code, kind, expression, targets: target ?? [], components }));
}

/**
 * Whether the parameter is already built in with the same meaning. If the definition is derived from the built-in one,
 * the built-in one may also have a wider meaning
 * (http://hl7.org/fhir/R4/searchparameter-definitions.html#SearchParameter.derivedFrom).
 * @throws ServiceError 'unprocessable' if the built-in one has another meaning, or the parameter does not compile for
 *   the type
 */
function isBuiltIn(candidate: OwnSearchParameter, derivedFrom: unknown, builtIn: SearchParameterSet): boolean {
  const { type, code } = candidate;
  const compiled = compiledOf(candidate, builtIn);
  const known = builtIn.find(type, code);
  if (known !== undefined && compiled !== undefined) {
    if (isEqual(known, compiled)) return true;
    if (isDerived(derivedFrom, code) && isPartOf(compiled, known)) return true;
  }
  if (builtIn.defines(type, code))
    throw badElement('code', `is taken: ${type}.${code} is built in with another meaning; choose another code`);
  const other = builtIn.collidingWith(type, code);
  if (other !== undefined)
    throw badElement('code', `has the same number in the index as ${other}; choose another code`);
  return false;
}

/** A code that no parameter uses, so that a probe can be compiled together with the parameters of the type. */
const PROBE = '$probe';

function compiledOf(candidate: OwnSearchParameter, builtIn: SearchParameterSet): SearchParameter | undefined {
  const { type, kind } = candidate;
  const set = builtIn.withLive([{ ...candidate, code: PROBE }]);
  const unusable = set.listUnusable(type).find(({ code }) => code === PROBE);
  if (unusable === undefined) return set.find(type, PROBE);
  const member = kind === 'composite' ? 'component' : 'expression';
  throw badElement(member, `cannot be indexed for ${type}: ${unusable.reason}`);
}

const isEqual = (known: SearchParameter, other: SearchParameter): boolean =>
  known.kind === other.kind &&
  indexedPathsOf(known).join('|') === indexedPathsOf(other).join('|') &&
  isDeepStrictEqual(compositePartsOf(known), compositePartsOf(other));

const compositePartsOf = ({ composite }: SearchParameter): unknown =>
  composite && [composite.codes, composite.rows?.map(({ parts }) => parts.map(pathsOf))];

const pathsOf = ({ branches }: Pick<SearchParameter, 'branches'>): readonly string[] =>
  branches.map(({ steps }) => steps.map(({ text }) => text).join('.')).sort();

/**
 * Paths to the values that an index holds. Types that the kind of the parameter does not index are left out. For
 * example, HL7's `Procedure.performed` also allows ages, but a date search finds no ages.
 */
const indexedPathsOf = ({ kind, branches }: SearchParameter): readonly string[] =>
  pathsOf({ branches: branches.filter((branch) => kind === 'composite' || holdsValuesOf(kind, branch)) });

function isDerived(derivedFrom: unknown, code: string): boolean {
  return typeof derivedFrom === 'string' && definitionOfUrl(parseCanonical(derivedFrom).url)?.code === code;
}

function isPartOf(part: SearchParameter, whole: SearchParameter): boolean {
  if (part.kind !== whole.kind || part.kind === 'composite') return false;
  const paths = new Set(indexedPathsOf(whole));
  return indexedPathsOf(part).every((path) => paths.has(path));
}

const isListOfNames = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((name) => typeof name === 'string');
