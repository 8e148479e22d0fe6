import { noteIncomplete } from './parameter-clause';
import { type SearchScope } from './search-scope';
import { invalid } from './values';

/** One `_include` or `_revinclude` (http://hl7.org/fhir/R4/search.html#revinclude). */
export interface Include {
  readonly isReverse: boolean;
  /** Whether it applies to what was included as well. */
  readonly isIterated: boolean;
  /** The references that are followed; each names the type that has it. */
  readonly parameterIds: readonly number[];
  /** Types that may come in; undefined: any. */
  readonly types: readonly string[] | undefined;
}

const MAX_INCLUDES = 32;

/** @throws ServiceError 'invalid' for what is malformed or names an unknown type or parameter */
export function includesOf(query: URLSearchParams, scope: SearchScope): readonly Include[] {
  const includes: Include[] = [];
  for (const [name, value] of query) {
    const [, direction, modifier] = /^_(include|revinclude)(?::(.*))?$/.exec(name) ?? [];
    if (direction === undefined || value === '') continue;
    if (modifier !== undefined && modifier !== 'iterate' && modifier !== 'recurse')
      throw invalid(name, 'knows the modifier :iterate only');
    for (const text of value.split(','))
      includes.push(includeOf(name, text, direction === 'revinclude', modifier !== undefined, scope));
  }
  if (includes.length > MAX_INCLUDES) throw invalid('_include', `may stand ${MAX_INCLUDES} times at most`);
  return includes;
}

function includeOf(name: string, text: string, isReverse: boolean, isIterated: boolean, scope: SearchScope): Include {
  const { type: searched, parameters } = scope;
  if (text === '*') {
    if (isReverse) throw invalid(name, 'takes Type:parameter; "*" alone would follow every reference of every type');
    return { isReverse, isIterated, parameterIds: referencesOf(searched, scope), types: undefined };
  }
  const [source = '', code = '', target, ...rest] = text.split(':');
  if (source === '' || code === '' || rest.length > 0)
    throw invalid(name, 'takes Type:parameter or Type:parameter:TargetType, such as Observation:subject');
  if (parameters.list(source).length === 0)
    throw invalid(name, `names "${source.slice(0, 64)}", which is no resource type`);
  if (target !== undefined && parameters.list(target).length === 0)
    throw invalid(name, `names "${target.slice(0, 64)}", which is no resource type`);
  const parameterIds = code === '*' ? referencesOf(source, scope) : referenceOf(name, source, code, scope).storedAs;
  const narrowed = code === '*' ? undefined : parameters.find(source, code)?.narrowedTo;
  if (isReverse) return { isReverse, isIterated, parameterIds, types: [source] };
  const only = target ?? narrowed;
  return { isReverse, isIterated, parameterIds, types: only === undefined ? undefined : [only] };
}

function referenceOf(
  name: string,
  source: string,
  code: string,
  scope: SearchScope,
): { readonly storedAs: readonly number[] } {
  const { parameters } = scope;
  const parameter = parameters.find(source, code);
  if (parameter?.kind === 'reference') {
    noteIncomplete(parameter, scope);
    return parameter;
  }
  const hint = parameter === undefined ? parameters.nearestCode(source, code) : undefined;
  throw invalid(
    name,
    `names ${source}.${code.slice(0, 64)}, which is no reference parameter${hint === undefined ? '' : `; did you mean "${hint}"?`}`,
  );
}

function referencesOf(type: string, scope: SearchScope): readonly number[] {
  const references = scope.parameters.list(type).filter(({ kind }) => kind === 'reference');
  for (const parameter of references) noteIncomplete(parameter, scope);
  return [...new Set(references.flatMap(({ storedAs }) => storedAs))];
}
