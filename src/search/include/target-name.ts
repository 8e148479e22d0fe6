import { parseCanonical } from '../../fhir/reference';
import { isObject } from '../../platform/json/plain-object';
import { type Branch, walkSteps } from '../../fhirpath/fhirpath';
import { Scope } from '../../search-index/extract/scope';

/** How a reference parameter names targets without saying where they are: by a canonical, or by an identifier. */
export interface NamedPath {
  readonly by: 'canonical' | 'identifier';
  readonly sourceType: string;
  readonly branches: readonly Branch[];
  /** The parameters whose links the values have. */
  readonly parameterIds: readonly number[];
  /** The parameter that tells the name of a target, for each type that may be one. */
  readonly targets: readonly NamedTarget[];
  /** The server's own base: what lies below it is a literal reference. */
  readonly baseUrl: string;
}

export interface NamedTarget {
  readonly type: string;
  readonly parameterId: number;
  readonly branches: readonly Branch[];
}

/** A name of a target as a source says it: a canonical's URL and version, or an identifier's value and system. */
export interface TargetName {
  readonly value: string;
  /** Of an identifier; empty where it has none. */
  readonly system?: string;
  /** Of a canonical that names one. */
  readonly version?: string;
  /** The type that `Reference.type` says. */
  readonly type?: string;
}

type Body = Readonly<Record<string, unknown>>;

/** The names that a source calls its targets by. */
export function namesIn({ by, branches }: Pick<NamedPath, 'by' | 'branches'>, source: Body): readonly TargetName[] {
  const read = by === 'canonical' ? canonicalIn : logicalIn;
  return valuesOf(branches, source).flatMap((value) => read(value) ?? []);
}

/** Whether a target has the name, as far as the name goes: a canonical may want a version besides. */
export function hasName({ branches }: NamedTarget, target: Body, { value, system }: TargetName): boolean {
  return valuesOf(branches, target).some((own) =>
    system === undefined ? own === value : isObject(own) && own.value === value && (own.system ?? '') === system,
  );
}

function valuesOf(branches: readonly Branch[], resource: Body): readonly unknown[] {
  const values: unknown[] = [];
  // No name depends on what the reference of another value leads to.
  const scope = new Scope(resource, '');
  for (const { steps } of branches) walkSteps(steps, (value) => values.push(value))(resource, scope);
  return values;
}

function canonicalIn(value: unknown): TargetName | undefined {
  if (typeof value !== 'string' || value.startsWith('#')) return undefined;
  const { url, ...version } = parseCanonical(value);
  return url === '' ? undefined : { value: url, ...version };
}

/** http://hl7.org/fhir/R4/references.html#logical; what says a place too is no logical reference. */
function logicalIn(value: unknown): TargetName | undefined {
  if (!isObject(value) || value.reference !== undefined || !isObject(value.identifier)) return undefined;
  const { system, value: text } = value.identifier;
  if (typeof text !== 'string' || text === '') return undefined;
  const type = typeof value.type === 'string' ? { type: value.type } : {};
  return { value: text, system: typeof system === 'string' ? system : '', ...type };
}
