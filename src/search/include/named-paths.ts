import { r4ResourceTypes } from '../../fhir/definitions/definitions';
import { parseCanonical } from '../../fhir/reference';
import { type Branch, evaluatorOf } from '../../fhirpath/fhirpath';
import { isObject } from '../../platform/json/plain-object';
import { Scope } from '../../search-index/extract/scope';
import { type SearchParameter } from '../../search-index/extract/search-parameter';
import { noteIncomplete, type SearchScope } from '../parse/search-scope';

/** A way in which a reference parameter names targets without an address: by a canonical or an identifier. */
export interface NamedPath {
  readonly by: 'canonical' | 'identifier';
  readonly sourceType: string;
  readonly branches: readonly Branch[];
  readonly parameterIds: readonly number[];
  /** For each possible type of a target, the parameter that holds its name. */
  readonly targets: readonly NamedTarget[];
  /** The server's base URL. A URL below it is an address and no name. */
  readonly baseUrl: string;
}

interface NamedTarget {
  readonly type: string;
  readonly parameterId: number;
  readonly branches: readonly Branch[];
}

/** The name of a target as the source has it: URL and version of a canonical, or value and system of an identifier. */
export interface TargetName {
  readonly value: string;
  /** System of an identifier; empty if the identifier has no system. */
  readonly system?: string;
  /** Version of a canonical, if it has one. */
  readonly version?: string;
  /** The type that `Reference.type` states. */
  readonly type?: string;
}

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

type Body = Readonly<Record<string, unknown>>;

export function namesIn({ by, branches }: Pick<NamedPath, 'by' | 'branches'>, source: Body): readonly TargetName[] {
  const read = by === 'canonical' ? canonicalIn : logicalIn;
  return targetValues(branches, source).flatMap((value) => read(value) ?? []);
}

/** Whether the target has this canonical or identifier. The version of a canonical is not compared here. */
export function hasName({ branches }: NamedTarget, target: Body, { value, system }: TargetName): boolean {
  return targetValues(branches, target).some((own) =>
    system === undefined ? own === value : isObject(own) && own.value === value && (own.system ?? '') === system,
  );
}

/** References are not resolved here, so the scope needs no base URL. */
const targetValues = (branches: readonly Branch[], resource: Body): readonly unknown[] =>
  evaluatorOf({ branches })(resource, new Scope(resource, ''));

function canonicalIn(value: unknown): TargetName | undefined {
  if (typeof value !== 'string' || value.startsWith('#')) return undefined;
  const { url, ...version } = parseCanonical(value);
  return url === '' ? undefined : { value: url, ...version };
}

/**
 * Reads a logical reference (http://hl7.org/fhir/R4/references.html#logical). A reference that also has an address is a
 * literal one, and gives no name.
 */
function logicalIn(value: unknown): TargetName | undefined {
  if (!isObject(value) || value.reference !== undefined || !isObject(value.identifier)) return undefined;
  const { system, value: text } = value.identifier;
  if (typeof text !== 'string' || text === '') return undefined;
  const type = typeof value.type === 'string' ? { type: value.type } : {};
  return { value: text, system: typeof system === 'string' ? system : '', ...type };
}
