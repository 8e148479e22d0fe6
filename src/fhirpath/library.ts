import fhirpath, { type Model, type UserInvocationTable } from 'fhirpath';
import r4 from 'fhirpath/fhir-context/r4';
import { type Truth } from './compile/compiled';
import { ExpressionError } from './syntax/expression';
import { matchesRegex } from './compile/pattern';

/** An argument that the FHIRPath library passes to a function: a single text, or an empty list. */
type Given = string | readonly unknown[];

/**
 * Implements the regular expressions of the FHIRPath library anew. The library's own ones backtrack, which would block
 * all requests.
 */
const matching = (whole: boolean): UserInvocationTable[string] => ({
  fn: (inputs: readonly unknown[], pattern: Given, flags: Given = '') => {
    const [text, ...others] = inputs;
    if (text === undefined || text === null || typeof pattern !== 'string') return [];
    if (others.length > 0 || typeof text !== 'string') throw new Error('one text is expected');
    return matchesRegex(text, whole ? `^(?:${pattern})$` : pattern, typeof flags === 'string' ? flags : '');
  },
  arity: { 1: ['String'], 2: ['String', 'String'] },
});

/** Options of the FHIRPath library. They replace `trace()`, which would write resources to the log. */
const OPTIONS = {
  async: false,
  traceFn: () => undefined,
  userInvocationTable: { matches: matching(false), matchesFull: matching(true) },
} as const;
const MODEL = r4 as Model;

/**
 * Evaluates while `console.warn` does nothing, because the FHIRPath library would print a warning with a date of the
 * resource there when it truncates a duration. If a time limit ends the evaluation, the console stays silent until the
 * next evaluation restores it.
 */
function quietly(evaluate: () => unknown): unknown {
  console.warn = () => undefined;
  try {
    return evaluate();
  } finally {
    console.warn = warn;
  }
}

const { warn } = console;

/** @throws ExpressionError for an expression that the library parses but refuses */
function compiledByLibrary<T>(compile: () => T): T {
  try {
    return compile();
  } catch (error) {
    // The error of a time limit comes from another JavaScript realm, so it is no `Error` of this one.
    if (!(error instanceof Error)) throw error;
    const [reason = ''] = error.message.split(/ expecting \{|\n/);
    throw new ExpressionError(`it is no FHIRPath: ${reason.slice(0, 200)}`);
  }
}

/**
 * Evaluates a boolean expression about one element with the FHIRPath library. The library supports any expression, but
 * is some hundred times slower than compiled code. The result is undefined if the expression cannot be evaluated.
 * @param base path of the element, such as `Patient.contact`
 * @throws ExpressionError if the library refuses the expression
 */
export function questionByLibrary(expression: string, base: string): Truth {
  const evaluate = compiledByLibrary(() => fhirpath.compile({ base, expression }, MODEL, OPTIONS));
  return (focus, { resource, rootResource }) => {
    // The library may modify its input, so it gets a copy. `base` gives it the type of `%context`.
    const variables = structuredClone({ resource, rootResource });
    try {
      const found = quietly((): unknown => evaluate(structuredClone(focus), variables)) as readonly unknown[];
      if (found.length !== 1) return undefined;
      return typeof found[0] === 'boolean' ? found[0] : true;
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      return undefined;
    }
  };
}

/** Makes the FHIRPath library's node of a resource. The node includes the type of the resource. */
const nodesOf = fhirpath.compile('$this', MODEL, { async: false, resolveInternalTypes: false });

/** Implements `resolve()`: the JSON text of the resource to which a reference leads. */
export type ResolveReference = (reference: unknown) => string | undefined;

/** The texts of a resource before and after a change. After a deletion, or before a create, there is none. */
export interface VersionTexts {
  readonly current: string | undefined;
  readonly previous: string | undefined;
}

/**
 * Evaluates an expression about a change with the FHIRPath library. The result is true only if the expression yields
 * exactly true.
 * @throws ExpressionError if the library refuses the expression; the returned function throws errors of the library
 */
export function changeByLibrary(expression: string): (change: VersionTexts, resolve: ResolveReference) => boolean {
  let resolve: ResolveReference = () => undefined;
  const userInvocationTable = {
    ...OPTIONS.userInvocationTable,
    resolve: {
      internalStructures: true,
      arity: { 0: [] },
      fn: (inputs: readonly { readonly data?: unknown }[]) =>
        inputs.flatMap((input) => {
          const text = resolve(input.data ?? input);
          return text === undefined ? [] : (nodesOf(JSON.parse(text)) as unknown[]);
        }),
    },
  };
  const evaluate = compiledByLibrary(() => fhirpath.compile(expression, MODEL, { ...OPTIONS, userInvocationTable }));
  return (change, resolveReference) => {
    resolve = resolveReference;
    // Parsed for each evaluation, since the library may modify its input.
    const [current, previous] = [change.current, change.previous].map(parsedOrEmpty);
    const focus = change.current === undefined ? previous : current;
    const result = quietly((): unknown =>
      evaluate(focus, { current, previous, resource: focus }),
    ) as readonly unknown[];
    return result.length === 1 && result[0] === true;
  };
}

const parsedOrEmpty = (text: string | undefined): unknown => (text === undefined ? [] : JSON.parse(text));

/** One step of the path to an element: its JSON name, and its index in an array. */
export interface LocationStep {
  readonly key: string;
  readonly index: number | undefined;
}

/**
 * A node of the FHIRPath library for an element. A computed value is a plain value and no node, so it has no location.
 */
interface ResourceNode {
  readonly parentResNode: ResourceNode | null;
  readonly propName?: string | null;
  readonly index?: number | null;
}

/**
 * Finds the elements that a path selects, as locations in the resource. For a value that is no element, the result is
 * undefined instead of a location.
 * @throws ExpressionError if the FHIRPath library refuses the path; the returned function throws errors of the library
 */
export function locationsByLibrary(
  expression: string,
): (resource: unknown) => readonly (readonly LocationStep[] | undefined)[] {
  const evaluate = compiledByLibrary(() =>
    fhirpath.compile(expression, MODEL, { ...OPTIONS, resolveInternalTypes: false }),
  );
  return (resource) => (quietly((): unknown => evaluate(resource)) as readonly unknown[]).map(locationOf);
}

function locationOf(item: unknown): readonly LocationStep[] | undefined {
  if (typeof item !== 'object' || item === null || !('parentResNode' in item)) return undefined;
  const steps: LocationStep[] = [];
  for (let node = item as ResourceNode; node.parentResNode !== null; node = node.parentResNode) {
    if (typeof node.propName !== 'string') return undefined;
    steps.unshift({ key: node.propName, index: node.index ?? undefined });
  }
  return steps;
}
