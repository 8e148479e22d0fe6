import { ServiceError } from '../../platform/errors/service-error';
import { didYouMean } from '../../platform/text/nearest-code';
import { type SearchParameter } from '../../search-index/extract/search-parameter';
import { type SearchParameterSet } from '../../search-index/extract/search-parameter-set';
import { type IncludedTypes } from '../plan/compartment-query';
import { assertFinished } from '../../search-index/unfinished-index';

/** Types that `_include=*` means: often referenced, but in no patient's compartment. */
export const SHARED_TYPES = [
  ...['Practitioner', 'PractitionerRole', 'Organization', 'Location', 'HealthcareService'],
  ...['Medication', 'Device'],
];

const MOST_NAMES = 32;

/**
 * Refuses a call while the index of a reference parameter of these types is incomplete. Any reference of an entry or an
 * included resource may lead to an included type, and an incomplete index would miss some.
 * @throws ServiceError 'busy' while the index of a reference to one of these types is being built
 */
export function assertReferencesFinished(types: Iterable<string>, parameters: SearchParameterSet): void {
  for (const type of types)
    for (const parameter of parameters.list(type))
      if (parameter.kind === 'reference') assertFinished(parameter, parameters);
}

/**
 * Reads `_include`. A type such as `Practitioner` includes the targets of any reference to it. `Observation:performer`
 * or `Observation:performer:Practitioner` includes the targets of one reference. `*` means {@link SHARED_TYPES}.
 * @throws ServiceError 'invalid' for any other value
 */
export function includesOf(query: URLSearchParams, parameters: SearchParameterSet): IncludedTypes | undefined {
  const names = query.getAll('_include').flatMap((list) => list.split(','));
  const asked = [...new Set(names.map((name) => name.trim()).filter((name) => name !== ''))];
  if (asked.length === 0) return undefined;
  if (asked.length > MOST_NAMES)
    throw new ServiceError('include-invalid', `_include takes ${MOST_NAMES} names at most.`);
  const types: string[] = [];
  const references: IncludedTypes['references'][number][] = [];
  for (const name of asked) {
    const [source = '', code, target, ...rest] = name.split(':');
    if (source === '*' && code === undefined) types.push(...SHARED_TYPES);
    else if (!parameters.has(source)) throw badInclude(name, 'is no resource type');
    else if (code === undefined) types.push(source);
    else {
      const { storedAs: parameterIds, narrowedTo, targets } = referenceOf(name, source, code, parameters);
      const only = targetOf(name, target, rest, parameters) ?? narrowedTo;
      const any = targets.length === 0 ? parameters.types() : targets;
      references.push({ parameterIds, types: only === undefined ? any : [only] });
    }
  }
  return { types: [...new Set(types)], references };
}

function referenceOf(name: string, source: string, code: string, parameters: SearchParameterSet): SearchParameter {
  const parameter = parameters.find(source, code);
  if (parameter?.kind === 'reference') {
    assertFinished(parameter, parameters);
    return parameter;
  }
  const near = parameters.nearestCode(source, code);
  throw badInclude(name, 'is no reference parameter', didYouMean(near && `${source}:${near}`));
}

function targetOf(
  name: string,
  target: string | undefined,
  rest: readonly string[],
  parameters: SearchParameterSet,
): string | undefined {
  if (rest.length > 0 || (target !== undefined && !parameters.has(target)))
    throw badInclude(name, 'names no resource type as its target');
  return target;
}

const badInclude = (name: string, why: string, hint = ''): ServiceError =>
  new ServiceError(
    'include-invalid',
    `_include: "${name.slice(0, 128)}" ${why}.${hint} It takes types (Practitioner), references (Observation:performer), or *.`,
  );
