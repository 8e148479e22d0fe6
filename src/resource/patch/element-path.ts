import fhirpath, { type Model } from 'fhirpath';
import r4 from 'fhirpath/fhir-context/r4';
import { type JsonValue, printLossless } from '../../platform/json/lossless';
import { malformed, shown, unfit } from './tree-patch';

/** A member, or one element of a repeated member. */
export interface ElementStep {
  /** The JSON name, of a choice with its type: `valueQuantity`. */
  readonly key: string;
  /** Undefined where the member is no array. */
  readonly index: number | undefined;
}

/** The way from the resource to one of its elements; empty for the resource itself. */
export type ElementLocation = readonly ElementStep[];

/** A FHIRPath that names elements of the resource that is patched. */
export interface ElementPath {
  readonly text: string;
  /** @throws ServiceError 'unprocessable' when the path yields anything but elements. */
  find(tree: JsonValue): readonly ElementLocation[];
}

const MAX_LENGTH = 2000;

/**
 * Functions that choose among elements, or decide in a `where()`. What walks everything, looks outside of the resource or
 * could take very long is not among them.
 */
const FUNCTIONS = new Set(
  `where first last tail skip take single ofType as is extension exists all empty not count hasValue startsWith
   endsWith contains indexOf substring lower upper trim length toString distinct intersect exclude`.split(/\s+/),
);

/**
 * Compiles a path. The FHIRPath library tells where the elements that it finds stand; it sees a copy with rounded numbers.
 * @throws ServiceError 'invalid' for what is no FHIRPath, 'unprocessable' for a function that patches may not use.
 */
export function compileElementPath(text: string): ElementPath {
  if (text.length > MAX_LENGTH) throw malformed(`A path of a patch has at most ${MAX_LENGTH} characters.`);
  const evaluate = compiled(text);
  return {
    text,
    find: (tree) => {
      const found = new Map<string, ElementLocation>();
      for (const item of evaluate(JSON.parse(printLossless(tree)))) {
        const location = locationOf(item);
        if (location === undefined) throw unfit(`The path "${shown(text)}" yields no elements of the resource.`);
        found.set(JSON.stringify(location), location);
      }
      return [...found.values()];
    },
  };
}

function compiled(text: string): (resource: unknown) => readonly unknown[] {
  let evaluate: (resource: unknown) => unknown;
  try {
    const tree = fhirpath.parse(text) as SyntaxNode;
    evaluate = fhirpath.compile(text, r4 as Model, { async: false, resolveInternalTypes: false });
    refuseForeign(tree);
  } catch (error) {
    if (error instanceof Error && error.name === 'ServiceError') throw error;
    throw malformed(`"${shown(text)}" is no FHIRPath.`);
  }
  return (resource) => {
    try {
      return evaluate(resource) as readonly unknown[];
    } catch (error) {
      // The end of the time is no Error of this realm, and not ours to translate.
      if (!(error instanceof Error)) throw error;
      throw unfit(`The path "${shown(text)}" cannot be evaluated on the resource.`);
    }
  };
}

/** What the library's parser makes of an expression. */
interface SyntaxNode {
  readonly type: string;
  readonly text?: string;
  readonly children?: readonly SyntaxNode[];
}

function refuseForeign(root: SyntaxNode): void {
  const nodes = [root];
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    if (node.type === 'ExternalConstantTerm') throw unfit('A path of a patch cannot use variables.');
    if (node.type === 'Functn' && !FUNCTIONS.has(node.text ?? '')) {
      throw unfit(`A path of a patch cannot use ${shown(node.text ?? '')}().`);
    }
    nodes.push(...(node.children ?? []));
  }
}

/** What the library makes of an element; plain values, which it computed, have no place. */
interface ResourceNode {
  readonly parentResNode: ResourceNode | null;
  readonly propName?: string | null;
  readonly index?: number | null;
}

function locationOf(item: unknown): ElementLocation | undefined {
  if (typeof item !== 'object' || item === null || !('parentResNode' in item)) return undefined;
  const steps: ElementStep[] = [];
  for (let node = item as ResourceNode; node.parentResNode !== null; node = node.parentResNode) {
    if (typeof node.propName !== 'string') return undefined;
    steps.unshift({ key: node.propName, index: node.index ?? undefined });
  }
  return steps;
}
