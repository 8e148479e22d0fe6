import { readAsset } from '../../platform/assets';
import { memoized } from '../../platform/memoized';

/** The type of a search parameter (http://hl7.org/fhir/R4/codesystem-search-param-type.html). */
export type SearchParameterKind =
  'number' | 'date' | 'string' | 'token' | 'reference' | 'composite' | 'quantity' | 'uri' | 'special';

/** A SearchParameter of R4, reduced to what indexing and searching need. */
export interface SearchParameterDefinition {
  /** The id, which is also the last part of the canonical url, http://hl7.org/fhir/SearchParameter/{id}. */
  readonly id: string;
  readonly code: string;
  /** Types that have the parameter. `Resource` and `DomainResource` mean all their subtypes. */
  readonly base: readonly string[];
  readonly type: SearchParameterKind;
  readonly expression?: string;
  readonly target?: readonly string[];
  /** Components of a composite; `definition` is the canonical url of the component's parameter. */
  readonly component?: readonly { readonly definition: string; readonly expression: string }[];
}

/** The definition of a compartment (http://hl7.org/fhir/R4/compartmentdefinition.html). */
export interface CompartmentDefinition {
  readonly resourceType: 'CompartmentDefinition';
  readonly id: string;
  readonly code: string;
  readonly resource: readonly { readonly code: string; readonly param?: readonly string[] }[];
  readonly [member: string]: unknown;
}

/** One element of a type: `Observation.value[x]` has the name `value` and is a choice. */
export interface ElementDefinition {
  readonly name: string;
  readonly isChoice: boolean;
  readonly isRequired: boolean;
  readonly isRepeated: boolean;
  /** Names of the types. A backbone element has its path as the name of its type (`Observation.component`). */
  readonly types: readonly string[];
  /** Allowed target types of a reference or canonical; empty if any type is allowed. */
  readonly targets: readonly string[];
}

/** `quantity` as `Quantity`, as in the JSON names of choices. */
export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** The JSON member that holds the values of an element with this type: `valueQuantity` for `value[x]`. */
export const memberKey = ({ name, isChoice }: ElementDefinition, type: string): string =>
  isChoice ? `${name}${capitalized(type)}` : name;

interface TypeRecord {
  readonly name: string;
  readonly kind: 'resource' | 'complex' | 'primitive' | 'backbone';
  readonly abstract?: boolean;
  readonly base?: string;
  readonly elements?: Readonly<Record<string, string>>;
}

/**
 * Members that the records of search-parameters.json share, so that the file holds each once. Lists of targets are
 * shared too, but are not among these members.
 */
export interface SharedMembers {
  readonly common: Readonly<Record<string, unknown>>;
  readonly ofKind: Readonly<Partial<Record<string, Readonly<Record<string, unknown>>>>>;
  readonly publishers: readonly { readonly publisher: string; readonly contact: readonly unknown[] }[];
}

interface SearchParameterFile extends SharedMembers {
  readonly targets: readonly (readonly string[])[];
  readonly parameters: readonly (Omit<SearchParameterDefinition, 'target'> & {
    readonly target?: readonly string[] | number;
  })[];
}

export const searchParameterFile = once(() => load('search-parameters') as SearchParameterFile);

/** The SearchParameters of R4 4.0.1, sorted by id. */
export const searchParameterDefinitions = once((): readonly SearchParameterDefinition[] => {
  const { targets, parameters } = searchParameterFile();
  return parameters.map(({ target, ...definition }) => {
    const types = typeof target === 'number' ? targets[target] : target;
    return types === undefined ? definition : { ...definition, target: types };
  });
});

/** The Patient compartment of R4 4.0.1, with this server's own types SDCDocument and SDCWorkflow. */
export const patientCompartment = once(
  () => (load('compartment-patient') as { definition: CompartmentDefinition }).definition,
);

const typeRecords = once(
  () => new Map((load('elements') as { types: readonly TypeRecord[] }).types.map((record) => [record.name, record])),
);

/** The concrete resource types of R4, sorted. */
export const r4ResourceTypes = once((): ReadonlySet<string> => {
  const concrete = [...typeRecords().values()].filter(({ kind, abstract }) => kind === 'resource' && !abstract);
  return new Set(concrete.map(({ name }) => name));
});

/** Whether `type` is a concrete resource type of R4. Types of this server are not. */
export const isR4ResourceType = (type: string): boolean => r4ResourceTypes().has(type);

/**
 * Whether `type` is `ancestor` or a subtype of it: Age is a Quantity, code is a string, Patient is a DomainResource.
 */
export function isSubtype(type: string, ancestor: string): boolean {
  for (let name: string | undefined = type; name !== undefined; name = typeRecords().get(name)?.base) {
    if (name === ancestor) return true;
  }
  return false;
}

/** Whether `type` is a primitive type of R4 (http://hl7.org/fhir/R4/datatypes.html#primitive). */
export const isPrimitiveType = (type: string): boolean => typeRecords().get(type)?.kind === 'primitive';

/**
 * `type` and its ancestors, the most special first: Age, Quantity, Element. Empty for types that R4 does not define.
 */
export function lineageOf(type: string): readonly string[] {
  const lineage: string[] = [];
  for (let record = typeRecords().get(type); record !== undefined; record = typeRecords().get(record.base ?? ''))
    lineage.push(record.name);
  return lineage;
}

const CORE_TYPE = /^http:\/\/hl7\.org\/fhir\/StructureDefinition\/([A-Za-z0-9]+)$/;

/**
 * The R4 type that a canonical means; undefined for HL7's own profiles (`vitalsigns`), whose URLs have the same form.
 */
export function typeOfCanonical(canonical: string): string | undefined {
  const [, type = ''] = CORE_TYPE.exec(canonical) ?? [];
  return lineageOf(type).length > 0 ? type : undefined;
}

/** The elements with a required binding to one value set, and the allowed codes by system. */
export interface BoundValueSet {
  readonly id: string;
  readonly url: string;
  /** Paths of the bound elements, such as `Observation.status`, without `[x]`. */
  readonly elements: readonly string[];
  readonly codes: Readonly<Record<string, readonly string[]>>;
}

/** Value sets of R4's required bindings, as far as all their codes are known. */
export const boundValueSets = once(() => (load('bindings') as { valueSets: readonly BoundValueSet[] }).valueSets);

/** A rule of R4 about the content of a type or element, with severity error. */
export interface InvariantDefinition {
  readonly key: string;
  readonly human: string;
  readonly expression: string;
  /** Types and elements that state the rule, without `[x]`. Subtypes inherit it. */
  readonly on: readonly string[];
}

export const invariantDefinitions = once(
  () => (load('invariants') as { invariants: readonly InvariantDefinition[] }).invariants,
);

/**
 * The elements of a resource type, data type or backbone element by name, inherited ones first. A primitive type adds
 * none to those that it inherits. Undefined for a type that R4 does not define.
 */
export const elementsOfType: (type: string) => ReadonlyMap<string, ElementDefinition> | undefined = memoized((type) => {
  const record = typeRecords().get(type);
  if (record === undefined) return undefined;
  const inherited = record.base === undefined ? undefined : elementsOfType(record.base);
  return new Map([...(inherited ?? []), ...parseElements(record.elements ?? {})]);
});

/** A JSON member of an object, as the element that it holds with one of its types: `valueQuantity` is a `value`. */
export interface Member {
  readonly element: ElementDefinition;
  readonly type: string;
}

/** The JSON members that an object of a type can have, by name. Undefined for a type that R4 does not define. */
export const membersOfType: (type: string) => ReadonlyMap<string, Member> | undefined = memoized((type) => {
  const elements = elementsOfType(type);
  const members = [...(elements?.values() ?? [])].flatMap((element) =>
    element.types.map((of) => [memberKey(element, of), { element, type: of }] as const),
  );
  return elements && new Map(members);
});

/** Reads a table of elements in the notation of elements.json: `{"value[x]": "0..1 Quantity|string"}`. */
export function parseElements(elements: Readonly<Record<string, string>>): ReadonlyMap<string, ElementDefinition> {
  return new Map(
    Object.entries(elements).map(([key, text]) => {
      const element = parseElement(key, text);
      return [element.name, element];
    }),
  );
}

/** Reads one element in this notation: `0..* Reference(Patient,Group)|CodeableConcept`. */
function parseElement(key: string, text: string): ElementDefinition {
  const [cardinality = '', types = ''] = text.split(' ');
  const name = key.replace('[x]', '');
  return {
    name,
    isChoice: name !== key,
    isRequired: !cardinality.startsWith('0'),
    isRepeated: !/\.\.[01]$/.test(cardinality),
    types: types.split('|').map((type) => type.replace(/\(.*/, '')),
    targets: [...types.matchAll(/\(([^()]*)\)/g)].flatMap(([, targets = '']) => targets.split(',')),
  };
}

const summaries = once(() => {
  const { types } = load('summary-elements') as { types: readonly { name: string; elements: readonly string[] }[] };
  return new Map(types.map(({ name, elements }): [string, ReadonlySet<string>] => [name, new Set(elements)]));
});

/** Elements in the summary of `type` (http://hl7.org/fhir/R4/search.html#summary); undefined if R4 defines none. */
export const summaryElementsOf = (type: string): ReadonlySet<string> | undefined => summaries().get(type);

const load = (name: string): unknown => JSON.parse(readAsset(`fhir/definitions/${name}.json`));

export function once<T>(make: () => T): () => T {
  let value: T | undefined;
  return () => (value ??= make());
}
