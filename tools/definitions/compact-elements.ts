import { printRecords, type SourceResource } from './source-package';

interface StructureDefinition extends SourceResource {
  readonly kind: string;
  readonly abstract: boolean;
  readonly derivation?: string;
  readonly baseDefinition?: string;
  readonly snapshot: { readonly element: readonly Element[] };
}

interface Element {
  readonly path: string;
  readonly min: number;
  readonly max: string;
  readonly base: { readonly path: string };
  readonly contentReference?: string;
  readonly type?: readonly ElementType[];
}

interface ElementType {
  readonly code: string;
  readonly targetProfile?: readonly string[];
  readonly extension?: readonly { readonly url: string; readonly valueUrl?: string }[];
}

const about =
  'Data types, resource types and backbone elements of R4, sorted by name. A backbone element is named by its path. ' +
  'elements: member name ([x] marks a choice) -> "<min>..<max> <type>|<type>"; Reference(A,B) and canonical(A,B) list the ' +
  'target types. A record holds what it adds to its base.';

/** Compacts the type tables of R4: name, cardinality, types and reference targets of each element. */
export function compactElements(definitions: readonly StructureDefinition[]): string {
  const types = definitions
    .filter(({ kind, derivation }) => kind !== 'logical' && derivation !== 'constraint')
    .flatMap(recordsOf)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  return printRecords({ about }, 'types', types);
}

/** One record for the type itself and one for each of its backbone elements. */
function recordsOf(definition: StructureDefinition): { readonly name: string }[] {
  const elements = definition.snapshot.element;
  const parents = new Set(elements.map(({ path }) => parentOf(path)));
  const isPrimitive = definition.kind === 'primitive-type';
  const root = {
    name: definition.id,
    kind: kindOf(definition.kind),
    abstract: definition.abstract ? true : undefined,
    base: definition.baseDefinition?.split('/').pop(),
    elements: isPrimitive ? undefined : elementsOf(definition.id, elements, parents),
  };
  const backbones = elements
    .filter(({ path }) => path !== definition.id && parents.has(path))
    .map((element) => ({
      name: element.path,
      kind: 'backbone',
      base: element.type?.[0]?.code,
      elements: elementsOf(element.path, elements, parents),
    }));
  return [root, ...backbones];
}

function kindOf(kind: string): string {
  return kind.replace('-type', '');
}

/** The children that `path` itself defines. Inherited elements name another base path. */
function elementsOf(path: string, all: readonly Element[], parents: ReadonlySet<string>): Record<string, string> {
  const own = all.filter((element) => parentOf(element.path) === path && element.base.path === element.path);
  return Object.fromEntries(own.map((element) => [nameOf(element.path), printElement(element, parents)]));
}

function printElement(element: Element, parents: ReadonlySet<string>): string {
  return `${element.min}..${element.max} ${typesOf(element, parents).join('|')}`;
}

function typesOf({ path, contentReference, type = [] }: Element, parents: ReadonlySet<string>): string[] {
  if (contentReference !== undefined) return [contentReference.replace('#', '')];
  if (parents.has(path)) return [path];
  if (type.length === 0) throw new Error(`${path} has no type`);
  return type.map(printType);
}

/**
 * Prints a type of an element. FHIRPath's System types (of ids, and of urls of extensions) name their FHIR type in an
 * extension.
 */
function printType({ code, targetProfile = [], extension = [] }: ElementType): string {
  if (code.startsWith('http:')) return extension.find(({ valueUrl }) => valueUrl !== undefined)?.valueUrl ?? 'string';
  const targets = targetProfile.map((profile) => profile.split('/').pop()).filter((target) => target !== 'Resource');
  return targets.length === 0 ? code : `${code}(${targets.join(',')})`;
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('.'));
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1);
}
