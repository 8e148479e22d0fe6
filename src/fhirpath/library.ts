import fhirpath, { type Model, type UserInvocationTable } from 'fhirpath';
import r4 from 'fhirpath/fhir-context/r4';
import { type Truth } from './compile/compiled';
import { ExpressionError } from './syntax/expression';
import { matchesRegex } from './compile/pattern';

/** The arguments that the library hands over: the only text, or none. */
type Given = string | readonly unknown[];

/** Patterns of callers never backtrack: the library's own would hold up everybody. */
const matching = (whole: boolean): UserInvocationTable[string] => ({
  fn: (inputs: readonly unknown[], pattern: Given, flags: Given = '') => {
    const [text, ...others] = inputs;
    if (text === undefined || text === null || typeof pattern !== 'string') return [];
    if (others.length > 0 || typeof text !== 'string') throw new Error('one text is expected');
    return matchesRegex(text, whole ? `^(?:${pattern})$` : pattern, typeof flags === 'string' ? flags : '');
  },
  arity: { 1: ['String'], 2: ['String', 'String'] },
});

/** `trace()` would write resources to the log. */
const OPTIONS = {
  async: false,
  traceFn: () => undefined,
  userInvocationTable: { matches: matching(false), matchesFull: matching(true) },
} as const;
const MODEL = r4 as Model;

/**
 * Evaluates without the console: the library warns there of a duration that is cut off, with the date that it was added to. What
 * ends by its time limit leaves the console silent until the next evaluation, which repairs it.
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

/** @throws ExpressionError for what the library does not take, though it parsed */
function compiledByLibrary<T>(compile: () => T): T {
  try {
    return compile();
  } catch (error) {
    // The end of the time is no Error of this realm, and not ours to translate.
    if (!(error instanceof Error)) throw error;
    const [reason = ''] = error.message.split(/ expecting \{|\n/);
    throw new ExpressionError(`it is no FHIRPath: ${reason.slice(0, 200)}`);
  }
}

/**
 * Evaluates a question about one element with the FHIRPath library: any expression, some hundred times slower than a compiled
 * one. The answer is undefined where it cannot be evaluated.
 * @param base path of the element that the question is about, such as `Patient.contact`
 * @throws ExpressionError when the library does not take it
 */
export function questionByLibrary(expression: string, base: string): Truth {
  const evaluate = compiledByLibrary(() => fhirpath.compile({ base, expression }, MODEL, OPTIONS));
  return (focus, { resource, rootResource }) => {
    // The library may change what it is given. It knows `%context` with its type from `base`.
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

/** Makes a node of the library from a resource, which knows its type. */
const nodesOf = fhirpath.compile('$this', MODEL, { async: false, resolveInternalTypes: false });

/** `resolve()`: the JSON text of the resource that a reference leads to, or undefined. */
export type ResolveReference = (reference: unknown) => string | undefined;

/** Texts of a resource before and after a change, absent where there is nothing. */
export interface VersionTexts {
  readonly current: string | undefined;
  readonly previous: string | undefined;
}

/**
 * Evaluates an expression about a change with the FHIRPath library; true only where it yields true and nothing else.
 * @throws ExpressionError when the library does not take it; the function throws what the library throws
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
    // Texts are parsed for each evaluation: the library may change what it is given.
    const [current, previous] = [change.current, change.previous].map(parsedOrEmpty);
    const focus = change.current === undefined ? previous : current;
    const result = quietly((): unknown =>
      evaluate(focus, { current, previous, resource: focus }),
    ) as readonly unknown[];
    return result.length === 1 && result[0] === true;
  };
}

const parsedOrEmpty = (text: string | undefined): unknown => (text === undefined ? [] : JSON.parse(text));

/** A member of an element on the way to another: its JSON name, and its place in an array. */
export interface LocationStep {
  readonly key: string;
  readonly index: number | undefined;
}

/** An element in the library; plain values, which it computed, have no place. */
interface ResourceNode {
  readonly parentResNode: ResourceNode | null;
  readonly propName?: string | null;
  readonly index?: number | null;
}

/**
 * Finds elements by a path: where each stands, seen from the resource; undefined for a value that is no element.
 * @throws ExpressionError when the library does not take it; the function throws what the library throws
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
