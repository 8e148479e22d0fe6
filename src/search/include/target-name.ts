import { parseCanonical } from '../../fhir/reference';
import { isObject } from '../../platform/json/plain-object';
import { type Branch, evaluatorOf } from '../../fhirpath/fhirpath';
import { Scope } from '../../search-index/extract/scope';

/** A way in which a reference parameter names targets without an address: by a canonical or an identifier. */
export interface NamedPath {
  readonly by: 'canonical' | 'identifier';
  readonly sourceType: string;
  readonly branches: readonly Branch[];
  /** The reference parameters that hold the canonicals or identifiers. */
  readonly parameterIds: readonly number[];
  /** For each possible type of a target, the parameter that holds its name. */
  readonly targets: readonly NamedTarget[];
  /** The server's base URL. A URL below it is an address and no name. */
  readonly baseUrl: string;
}

export interface NamedTarget {
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

type Body = Readonly<Record<string, unknown>>;

/** The names by which a source refers to targets. */
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
