import { r4ResourceTypes } from '../../fhir/definitions/definitions';
import { type SearchParameter } from '../../search-index/extract/search-parameter';
import { noteIncomplete, type SearchScope } from '../parse/search-scope';
import { type NamedPath, type NamedTarget } from './target-name';

/** The search parameter that holds the name: the url that a canonical names, or an identifier. */
const NAMED_BY = {
  canonical: { code: 'url', kind: 'uri' },
  identifier: { code: 'identifier', kind: 'token' },
} as const;

/**
 * The ways from a reference parameter to targets that it names by a canonical or an identifier, and not by an address.
 * @param only restricts targets to one type
 * @param isLogical whether identifiers are followed; canonicals always are
 */
export function namedPathsOf(
  parameter: SearchParameter,
  only: string | undefined,
  isLogical: boolean,
  scope: SearchScope,
): readonly NamedPath[] {
  const canonicals = parameter.branches.filter(({ type }) => type === 'canonical' || type === 'uri');
  const references = isLogical ? parameter.branches.filter(({ type }) => type === 'Reference') : [];
  return [
    ...pathsOf(parameter, { by: 'canonical', branches: canonicals }, only, scope),
    ...pathsOf(parameter, { by: 'identifier', branches: references }, only, scope),
  ];
}

function pathsOf(
  { type: sourceType, storedAs: parameterIds, targets: known }: SearchParameter,
  { by, branches }: Pick<NamedPath, 'by' | 'branches'>,
  only: string | undefined,
  scope: SearchScope,
): readonly NamedPath[] {
  if (branches.length === 0) return [];
  const types = only !== undefined ? [only] : known.length > 0 ? known : [...r4ResourceTypes()];
  const targets = types.flatMap((type) => targetOf(type, by, scope));
  return targets.length === 0 ? [] : [{ by, sourceType, branches, parameterIds, targets, baseUrl: scope.baseUrl }];
}

function targetOf(type: string, by: NamedPath['by'], scope: SearchScope): NamedTarget[] {
  const { code, kind } = NAMED_BY[by];
  if (!scope.parameters.defines(type, code)) return [];
  const found = scope.parameters.find(type, code);
  if (found?.kind !== kind) return [];
  noteIncomplete(found, scope);
  return found.storedAs.map((parameterId) => ({ type, parameterId, branches: found.branches }));
}
