import fhirpath, { type Model } from 'fhirpath';
import r4 from 'fhirpath/fhir-context/r4';
import { elementsOf, memberKey } from '../fhir/definitions';
import { type Expression, ExpressionError } from '../fhir/fhirpath/expression';
import { parseExpression } from '../fhir/fhirpath/parse-expression';
import { type ChangeQuestion, compileChangeQuestion } from '../fhir/validation/fhirpath/compile-fhirpath';
import { UnknownElement } from '../fhir/validation/fhirpath/member';
import { nearestCode } from '../fhir/nearest-code';
import { withinTime } from '../platform/time/within-time';
import { ChangedTexts } from './changed-texts';

/** What `resolve()` makes of a reference: JSON text of a resource, or undefined where it leads to none. */
export type ResolveReference = (reference: unknown) => string | undefined;

/** A compiled criterion of a trigger. */
export interface TopicCriteria {
  /** Whether it takes no longer than to look at each element some times: nothing has to watch it. */
  readonly isQuick: boolean;
  /**
   * Whether a change matches: whether the expression yields true, and nothing else.
   * @throws Error when it cannot be evaluated on these resources
   */
  matches(change: ChangedTexts, resolve: ResolveReference): boolean;
}

/** On a resource without any content. */
const MAX_TRIAL_MILLISECONDS = 1_000;

/** Texts can grow 64 times in the library (`criteria-check.ts`), and everything is held at once. */
const MAX_LIBRARY_LENGTH = 2_000_000;

/**
 * Compiles a criterion: FHIRPath on the current resource, for a deletion on the last one, with `%current` and
 * `%previous`, either of which is empty where there is none.
 * @param type of the trigger
 * @throws Error when it does not compile, or names an element that `type` does not have
 */
export function compileCriteria(expression: string, type: string): TopicCriteria {
  try {
    return ofCompiled(compileChangeQuestion(expression, type), isQuick(parseExpression(expression)));
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    if (error instanceof UnknownElement && !isJsonName(error)) throw unknownElement(error);
    return compileByLibrary(expression);
  }
}

/** A criterion that says nothing of any change. */
export const undecidable: TopicCriteria = {
  isQuick: true,
  matches: () => {
    throw new Error('it does not compile');
  },
};

/** Tries a criterion on a resource without content, created, changed and deleted. @throws Error when that fails, or is slow */
export function tryCriteria(criteria: TopicCriteria, type: string): void {
  const text = JSON.stringify({ resourceType: type });
  const answer = withinTime(MAX_TRIAL_MILLISECONDS, () =>
    [new ChangedTexts(text, undefined), new ChangedTexts(text, text), new ChangedTexts(undefined, text)].map((change) =>
      criteria.matches(change, () => undefined),
    ),
  );
  if (answer === undefined) throw new Error('it takes too long');
}

function ofCompiled(question: ChangeQuestion, isQuick: boolean): TopicCriteria {
  return {
    isQuick,
    matches: ({ values: { current, previous } }) => {
      const focus = current ?? previous;
      return question(focus, {
        resource: focus,
        rootResource: focus,
        context: focus,
        current,
        previous,
        isStrict: true,
      });
    },
  };
}

/** `trace()` would write resources to the log. */
const OPTIONS = { async: false, traceFn: () => undefined } as const;

/** Makes a node of the library from a resource, which knows its type. */
const nodesOf = fhirpath.compile('$this', r4 as Model, { async: false, resolveInternalTypes: false });

/** With the FHIRPath library: any expression, some hundred times slower than a compiled one. @throws Error when it does not compile */
export function compileByLibrary(expression: string): TopicCriteria {
  let resolve: ResolveReference = () => undefined;
  const userInvocationTable = {
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
  const evaluate = fhirpath.compile(expression, r4 as Model, { ...OPTIONS, userInvocationTable });
  return {
    isQuick: false,
    matches: (change, resolveReference) => {
      if (change.length > MAX_LIBRARY_LENGTH) throw new Error('the resource is too long for this criterion');
      resolve = resolveReference;
      // Texts are parsed for each evaluation: the library may change what it is given.
      const variables = { current: resourceOf(change.current), previous: resourceOf(change.previous) };
      const focus = change.current === undefined ? variables.previous : variables.current;
      const result = evaluate(focus, { ...variables, resource: focus }) as readonly unknown[];
      return result.length === 1 && result[0] === true;
    },
  };
}

const resourceOf = (text: string | undefined): unknown => (text === undefined ? [] : JSON.parse(text));

/** Without patterns of regular expressions, and without lists that are walked again for each item of others. */
function isQuick(expression: Expression, isInArgument = false): boolean {
  switch (expression.kind) {
    case 'member':
      return expression.of === undefined || isQuick(expression.of, isInArgument);
    case 'index':
      return isQuick(expression.of, isInArgument);
    case 'call':
      return (
        expression.name !== 'matches' &&
        (expression.of === undefined || isQuick(expression.of, isInArgument)) &&
        expression.arguments.every((argument) => isQuick(argument, true))
      );
    case 'binary':
      return isQuick(expression.left, isInArgument) && isQuick(expression.right, isInArgument);
    case 'variable':
      return !isInArgument || !VERSIONS.includes(expression.name);
    case 'literal':
    case 'this':
    case 'empty':
      return true;
  }
}

const VERSIONS = ['current', 'previous', 'resource', 'context'];

/** `valueQuantity` for `value`: what JSON calls an element of several types. The library takes it. */
function isJsonName({ types, element }: UnknownElement): boolean {
  return types.some((type) =>
    [...(elementsOf(type)?.values() ?? [])].some(
      (definition) => definition.isChoice && definition.types.some((of) => memberKey(definition, of) === element),
    ),
  );
}

function unknownElement({ types, element, message }: UnknownElement): Error {
  const names = types.flatMap((type) => [...(elementsOf(type)?.keys() ?? [])]);
  const near = nearestCode(element, names);
  return new Error(near === undefined ? message : `${message}; do you mean "${near}"?`);
}
