import { elementsOfType } from '../fhir/definitions/definitions';
import { type NamedElements } from '../fhir/definitions/element-tables';
import { assertAllowed, assertLength } from './allowed';
import { CompilationBudget, evaluatorOf } from './compile/compiled';
import { compile } from './compile/compile';
import { plain } from './compile/values';
import { childNodesOf, type Expression, NotCompiled } from './syntax/expression';
import { changeByLibrary, type ResolveReference, type VersionTexts } from './library';
import { parseExpression } from './syntax/parse-expression';

/**
 * A change of a resource: the texts before and after it, and their parsed values. Code that may modify its input, such
 * as the FHIRPath library, must read the texts and not the parsed values.
 */
export interface Versions extends VersionTexts {
  readonly values: { readonly current: unknown; readonly previous: unknown };
}

/** A compiled boolean expression about a change of a resource. */
export interface Criterion {
  /** Nodes that one evaluation visits for each element of the resource; Infinity if unknown. */
  readonly cost: number;
  /**
   * Whether the expression yields exactly true.
   * @throws Error if the expression cannot be evaluated on these resources
   */
  matches(change: Versions, resolve: ResolveReference): boolean;
}

/**
 * Maximum number of characters of a resource that the FHIRPath library evaluates. It may make texts 64 times as long,
 * and holds all of them in memory.
 */
const MAX_LIBRARY_LENGTH = 2_000_000;

/**
 * Compiles a criterion. A criterion is FHIRPath on the resource after the change; for a deletion, on the content before
 * it. Its variables `%current` and `%previous` may be empty.
 * @param type type of the resource
 * @param elements the elements that the criterion may name. By default those of R4: a criterion about a type of a
 * module may then name any
 * @throws ExpressionError with reason and position, also for an element that `type` does not have
 */
export function compileCriterion(text: string, type: string, elements: NamedElements = elementsOfType): Criterion {
  assertLength(text, 'criterion');
  return allowedCriterion(text, type, elements);
}

/** Compiles one side of an `and`, in which a single value that is no boolean counts as true. */
export function compileClause(text: string, type: string): Criterion {
  assertLength(text, 'criterion');
  // The closing parenthesis is on a new line, since the clause may end with a comment.
  return allowedCriterion(`(${text}\n) and true`, type, elementsOfType);
}

function allowedCriterion(source: string, type: string, elements: NamedElements): Criterion {
  const expression = parseExpression(source);
  assertAllowed(expression, 'criterion');
  try {
    return criterionOf(expression, type, elements);
  } catch (error) {
    if (error instanceof NotCompiled) return libraryCriterion(source);
    throw error;
  }
}

function criterionOf(expression: Expression, type: string, elements: NamedElements): Criterion {
  const compiled = compile(expression, {
    focusType: type,
    contextType: type,
    resourceType: type,
    elements,
    isOfSearch: false,
    isOfChange: true,
    budget: new CompilationBudget(),
  });
  const values = evaluatorOf(compiled);
  return {
    cost: evaluationCostOf(expression),
    matches: ({ values: { current, previous } }) => {
      const focus = current ?? previous;
      const found = values(focus, { resource: focus, context: focus, current, previous });
      return found.length === 1 && plain(found[0]) === true;
    },
  };
}

/**
 * A criterion that only the FHIRPath library evaluates.
 * @throws ExpressionError if the library refuses it
 */
export function libraryCriterion(text: string): Criterion {
  const matches = changeByLibrary(text);
  return {
    cost: Infinity,
    matches: (change, resolve) => {
      const length = (change.current?.length ?? 0) + (change.previous?.length ?? 0);
      if (length > MAX_LIBRARY_LENGTH) throw new Error('the resource is too long for this criterion');
      return matches(change, resolve);
    },
  };
}

const VERSIONS = ['current', 'previous', 'resource', 'context'];

/**
 * The cost of an expression. It is Infinity for regular expressions, and for a list that is scanned again for each item
 * of another list.
 */
function evaluationCostOf(expression: Expression, isInArgument = false): number {
  if (expression.kind === 'variable' && isInArgument && VERSIONS.includes(expression.name)) return Infinity;
  if (expression.kind === 'call' && expression.name === 'matches') return Infinity;
  const given: readonly Expression[] = expression.kind === 'call' ? expression.arguments : [];
  return childNodesOf(expression).reduce(
    (sum, part) => sum + evaluationCostOf(part, isInArgument || given.includes(part)),
    1,
  );
}
