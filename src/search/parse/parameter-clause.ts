import { type SearchParameterKind } from '../../fhir/definitions/definitions';
import { ServiceError } from '../../platform/errors/service-error';
import { didYouMean, nearestCode } from '../../platform/text/nearest-code';
import { type SearchParameter } from '../../search-index/extract/search-parameter';
import { type SearchClause } from '../query/search-query';
import { compositeClauseOf } from './composite-clause';
import { dateClauseOf } from './date-clause';
import { dotClauseOf } from './dot-clause';
import { bodyClauseOf } from './json-path';
import { nearClauseOf } from './near-clause';
import { numberClauseOf, quantityClauseOf } from './number-clause';
import { identifiesPatient, referenceClauseOf } from './reference-clause';
import { noteIncomplete, scopeElsewhere, type SearchScope, type SentParameter } from './search-scope';
import { SPECIAL_CODES, specialClauseOf } from './special-clause';
import { stringClauseOf } from './string-clause';
import { anyOf, tokenClauseOf } from './token-clause';
import { uriClauseOf } from './uri-clause';
import { alternativesOf, assertType, invalid } from './values';

/** Maximum number of links of a chain. No model needs longer chains, and each link costs a join per candidate. */
const MAX_LINKS = 8;

/** The effort of reading a chain: each path costs EFFORT_OF_WAY, and a value costs 1 per LONG_VALUE characters. */
const EFFORT_OF_WAY = 20;
const LONG_VALUE = 32;

/**
 * Reads one parameter of a search: `code`, `code:modifier`, a chain `subject:Patient.name`, `_has:Type:reference:code`,
 * or a dot expression `.name.0.family`.
 * @returns undefined if the parameter is unknown and the search is lenient
 * @throws ServiceError 'invalid' naming the parameter
 */
export function clauseOf(name: string, value: string, scope: SearchScope, links = 0): SearchClause | undefined {
  if (links > MAX_LINKS) throw invalid(name, `is a chain of more than ${MAX_LINKS} links`);
  if (name.startsWith('_has:')) return reverseChainOf(name, value, scope, links);
  if (name.startsWith('.')) return dotClauseOf(name, value, scope);
  const dot = name.indexOf('.');
  if (dot > 0) return chainOf(name.slice(0, dot), name.slice(dot + 1), value, scope, links);
  const { readLeaf, ...leafScope } = scope;
  if (readLeaf !== undefined) return readLeaf(name, leafScope);
  const { code, modifier } = splitModifier(name);
  if (SPECIAL_CODES.has(code)) {
    return specialClauseOf(code, modifier, value, scope);
  }
  const parameter = parameterOf(code, scope);
  return parameter === undefined ? undefined : valueClauseOf(parameter, modifier, value, scope);
}

function splitModifier(name: string): { readonly code: string; readonly modifier: string | undefined } {
  const colon = name.indexOf(':');
  return colon < 0
    ? { code: name, modifier: undefined }
    : { code: name.slice(0, colon), modifier: name.slice(colon + 1) };
}

/** @throws ServiceError 'invalid' for an unknown parameter, unless the search is lenient */
export function parameterOf(code: string, scope: SearchScope): SearchParameter | undefined {
  const { type, parameters, isLenient } = scope;
  const parameter = parameters.find(type, code);
  if (parameter !== undefined) {
    noteIncomplete(parameter, scope);
    return parameter;
  }
  const unusable = parameters.listUnusable(type).find((one) => one.code === code);
  if (unusable !== undefined)
    throw new ServiceError('search-parameter-unknown', `${type}.${code} cannot be searched by: ${unusable.reason}.`);
  if (isLenient) return undefined;
  const hint = suggestionFor(code, parameters.list(type));
  throw new ServiceError('search-parameter-unknown', `${type} has no search parameter "${code.slice(0, 64)}".${hint}`);
}

/** Advice for an unknown code: the nearest known code, or all of them. */
export function suggestionFor(code: string, parameters: readonly SearchParameter[]): string {
  const codes = parameters.map((parameter) => parameter.code);
  return didYouMean(nearestCode(code, codes), codes.length === 0 ? '' : ` There are ${codes.sort().join(', ')}.`);
}

export function valueClauseOf(
  parameter: SearchParameter,
  modifier: string | undefined,
  value: string,
  scope: SearchScope,
): SearchClause {
  if (modifier === 'missing') return missingClauseOf(parameter, value);
  const name = modifier === undefined ? parameter.code : `${parameter.code}:${modifier}`;
  return READERS[parameter.kind]({ parameter, modifier, name, values: alternativesOf(name, value) }, scope);
}

type ReadClause = (sent: SentParameter, scope: SearchScope) => SearchClause;

const READERS: Readonly<Record<SearchParameterKind, ReadClause>> = {
  token: tokenClauseOf,
  uri: uriClauseOf,
  string: stringClauseOf,
  reference: referenceClauseOf,
  date: dateClauseOf,
  number: numberClauseOf,
  quantity: quantityClauseOf,
  special: nearClauseOf,
  composite: (sent, scope) =>
    compositeClauseOf(sent, scope, (code, text) => {
      const part = parameterOf(code, { ...scope, isLenient: false });
      if (part === undefined) throw invalid(sent.name, 'is not supported');
      return valueClauseOf(part, undefined, text, scope);
    }),
};

/** Reads `:missing` (http://hl7.org/fhir/R4/search.html#modifiers). */
function missingClauseOf(parameter: SearchParameter, value: string): SearchClause {
  const name = `${parameter.code}:missing`;
  if (value !== 'true' && value !== 'false') throw invalid(name, 'is true or false');
  const isPresent = value === 'false';
  if (parameter.kind === 'composite') throw invalid(name, 'cannot be used with a composite');
  const mask = parameter.presenceMask;
  if (mask !== 0n) return { kind: 'presence', mask, isPresent };
  // A JSON path cannot test the type of a reference's target.
  if (parameter.narrowedTo !== undefined || parameter.branches.some(isNarrowed))
    throw invalid(name, 'cannot be used with this parameter');
  const found = bodyClauseOf(parameter, name, ({ path }) => [path]);
  return isPresent ? found : { kind: 'not', clause: found };
}

const isNarrowed = ({ steps }: SearchParameter['branches'][number]): boolean =>
  steps.some(({ resolvesTo }) => resolvesTo !== undefined);

/**
 * Reads a chain such as `subject:Patient.name=peter`. It follows the reference to each target type for which the rest
 * of the chain is valid.
 */
function chainOf(
  head: string,
  rest: string,
  value: string,
  scope: SearchScope,
  links: number,
): SearchClause | undefined {
  const { code, modifier } = splitModifier(head);
  const parameter = parameterOf(code, scope);
  if (parameter === undefined) return undefined;
  if (parameter.kind !== 'reference') throw invalid(head, 'is no reference, so it cannot be chained');
  assertNoCanonical(parameter, head);
  const name = `${head}.${rest}`;
  const types = targetTypesOf(parameter, modifier, rest, scope, name);
  const { effort = { left: Infinity } } = scope;
  effort.left -= types.length * EFFORT_OF_WAY;
  const { clauses, refusal } = eachType(types, (type) => {
    // When the effort is used up, nothing more is read, and the outermost link refuses the whole chain.
    if (effort.left < 0) return undefined;
    effort.left -= value.length / LONG_VALUE;
    return clauseOf(rest, value, scopeElsewhere(scope, type), links + 1);
  });
  if (effort.left < 0) throw invalid(name, 'follows too many paths: name the types, as in subject:Patient.name');
  if (clauses.length === 0 && refusal !== undefined) throw refusal;
  const chains = clauses.map(({ type, clause }): SearchClause => ({
    kind: 'chain',
    parameterIds: parameter.storedAs,
    type,
    clause,
  }));
  return chains.length === 0 ? undefined : anyOf(chains);
}

/**
 * Refuses a chain along a canonical. Rows do not show which version of its target a canonical means, so such a chain
 * would find wrong resources.
 */
function assertNoCanonical({ code, branches }: SearchParameter, name: string): void {
  if (branches.length > 0 && branches.every(({ type }) => type === 'canonical' || type === 'uri'))
    throw invalid(name, `follows the canonical "${code}": search by its URL, or add its targets with _include`);
}

/**
 * Reads the chain for each type, and returns the clauses of the types for which it is valid. `refusal` is the first
 * error of another type.
 */
function eachType(
  types: readonly string[],
  read: (type: string) => SearchClause | undefined,
): { readonly clauses: readonly { type: string; clause: SearchClause }[]; readonly refusal: ServiceError | undefined } {
  const clauses: { type: string; clause: SearchClause }[] = [];
  let refusal: ServiceError | undefined;
  for (const type of types) {
    try {
      const clause = read(type);
      if (clause !== undefined) clauses.push({ type, clause });
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      refusal ??= error;
    }
  }
  return { clauses, refusal };
}

function targetTypesOf(
  { narrowedTo, targets }: SearchParameter,
  named: string | undefined,
  rest: string,
  { parameters }: SearchScope,
  name: string,
): readonly string[] {
  if (named !== undefined) assertType(name, named, parameters);
  if (narrowedTo !== undefined && (named ?? narrowedTo) !== narrowedTo)
    throw invalid(name, `leads to ${narrowedTo} only`);
  const only = named ?? narrowedTo;
  if (only !== undefined) return [only];
  const code = splitModifier(rest.split('.', 1)[0] ?? '').code;
  const types = targets.filter((type) => code.startsWith('_') || parameters.find(type, code) !== undefined);
  if (types.length > 0) return types;
  throw invalid(
    name,
    targets.length === 0
      ? 'may lead to any type: name one, as in subject:Patient.name'
      : `leads to ${targets.join(', ')}, which have no search parameter "${code.slice(0, 64)}"`,
  );
}

/** Reads a reverse chain such as `_has:Observation:patient:code=1234-5` (http://hl7.org/fhir/R4/search.html#has). */
function reverseChainOf(name: string, value: string, scope: SearchScope, links: number): SearchClause | undefined {
  const [, type = '', code = '', ...rest] = name.split(':');
  const inner = rest.join(':');
  if (inner === '') throw invalid(name, 'must read _has:Type:reference:parameter');
  assertType(name, type, scope.parameters);
  const source = scopeElsewhere(scope, type);
  const parameter = parameterOf(code, source);
  if (parameter === undefined) return undefined;
  if (parameter.kind !== 'reference') throw invalid(name, `names ${type}.${code}, which is no reference`);
  assertNoCanonical(parameter, name);
  const clause = clauseOf(inner, value, source, links + 1);
  if (clause === undefined) return undefined;
  const isByPatient = scope.type === 'Patient' && identifiesPatient(parameter, source);
  // `Condition.patient` shares the rows of `subject`, but never leads to a Group.
  const { narrowedTo = scope.type, storedAs } = parameter;
  return { kind: 'has', parameterIds: narrowedTo === scope.type ? storedAs : [], type, clause, isByPatient };
}
