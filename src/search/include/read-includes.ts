import { ServiceError } from '../../platform/errors/service-error';
import { type SearchParameter } from '../../search-index/extract/search-parameter';
import { suggestionFor } from '../parse/parameter-clause';
import { noteIncomplete, type SearchScope } from '../parse/search-scope';
import { assertType, invalid } from '../parse/values';
import { type NamedPath, namedPathsOf } from './named-paths';

/** One `_include` or `_revinclude` (http://hl7.org/fhir/R4/search.html#revinclude). */
export interface Include {
  readonly isReverse: boolean;
  /** Whether the include also applies to resources that were included before (`:iterate`). */
  readonly isIterated: boolean;
  /** The reference parameters to follow; each belongs to one source type. */
  readonly parameterIds: readonly number[];
  /**
   * Types that may be included: the type that the include names, else all types that the references may have as
   * targets.
   */
  readonly types: readonly string[];
  /** For a `_revinclude`: the only type to which its references may lead; absent if any. */
  readonly target?: string;
  readonly named: readonly NamedPath[];
}

const MAX_INCLUDES = 32;

/** @throws ServiceError 'invalid' if an include is malformed or names an unknown type or parameter */
export function includesOf(query: URLSearchParams, scope: SearchScope): readonly Include[] {
  const includes: Include[] = [];
  for (const [name, value] of query) {
    const [, direction, modifier] = /^_(include|revinclude)(?::(.*))?$/.exec(name) ?? [];
    if (direction === undefined || value === '') continue;
    for (const text of value.split(',', MAX_INCLUDES + 1)) {
      if (includes.length === MAX_INCLUDES) throw invalid('_include', `may occur at most ${MAX_INCLUDES} times`);
      includes.push(includeOf(name, text, howOf(name, direction, modifier), scope));
    }
  }
  return includes;
}

interface How {
  readonly isReverse: boolean;
  readonly isIterated: boolean;
  /** Whether references that hold an identifier and no address are followed too. */
  readonly isLogical: boolean;
}

function howOf(name: string, direction: string, modifier: string | undefined): How {
  const isReverse = direction === 'revinclude';
  if (modifier !== undefined && !['iterate', 'recurse', 'logical'].includes(modifier))
    throw invalid(name, `knows the modifiers :iterate${isReverse ? '' : ' and :logical'} only`);
  const isLogical = modifier === 'logical';
  if (isReverse && isLogical)
    throw invalid(name, 'cannot follow references by identifier: no index finds their sources');
  return { isReverse, isIterated: modifier !== undefined && !isLogical, isLogical };
}

function includeOf(name: string, text: string, how: How, scope: SearchScope): Include {
  const { isReverse, isIterated } = how;
  const { type: searched, parameters } = scope;
  if (text === '*') {
    if (isReverse) throw invalid(name, 'takes Type:parameter; "*" alone would follow every reference of every type');
    return { isReverse, isIterated, ...followed(referencesOf(searched, scope), undefined, how, scope) };
  }
  const [source = '', code = '', target, ...rest] = text.split(':');
  if (source === '' || code === '' || rest.length > 0)
    throw invalid(name, 'takes Type:parameter or Type:parameter:TargetType, such as Observation:subject');
  assertType(name, source, parameters);
  if (target !== undefined) assertType(name, target, parameters);
  const references = code === '*' ? referencesOf(source, scope) : [referenceOf(name, source, code, scope)];
  const narrowed = code === '*' ? undefined : parameters.find(source, code)?.narrowedTo;
  const only = target ?? narrowed;
  const forward = followed(references, only, how, scope);
  const isPossible = narrowed === undefined || only === narrowed;
  const back = { types: [source], ...(only === undefined ? {} : { target: only }) };
  return { isReverse, isIterated, ...forward, ...(isReverse ? back : {}), ...(isPossible ? {} : { types: [] }) };
}

function followed(
  references: readonly SearchParameter[],
  only: string | undefined,
  { isLogical }: How,
  scope: SearchScope,
): Pick<Include, 'parameterIds' | 'types' | 'named'> {
  const targets = references.map((parameter) => parameter.targets);
  const allowed = targets.some(({ length }) => length === 0) ? scope.parameters.types() : targets.flat();
  return {
    types: only === undefined ? [...new Set(allowed)] : [only],
    parameterIds: [...new Set(references.flatMap(({ storedAs }) => storedAs))],
    named: references.flatMap((parameter) => namedPathsOf(parameter, only, isLogical, scope)),
  };
}

function referenceOf(name: string, source: string, code: string, scope: SearchScope): SearchParameter {
  const { parameters } = scope;
  const parameter = parameters.find(source, code);
  if (parameter?.kind === 'reference') {
    noteIncomplete(parameter, scope);
    return parameter;
  }
  const references = parameters.list(source).filter(({ kind }) => kind === 'reference');
  throw new ServiceError(
    'include-invalid',
    `"${name}" names ${source}.${code.slice(0, 64)}, which is no reference parameter.${suggestionFor(code, references)}`,
  );
}

function referencesOf(type: string, scope: SearchScope): readonly SearchParameter[] {
  const references = scope.parameters.list(type).filter(({ kind }) => kind === 'reference');
  for (const parameter of references) noteIncomplete(parameter, scope);
  return references;
}
