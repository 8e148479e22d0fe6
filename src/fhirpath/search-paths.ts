import { isR4ResourceType } from '../fhir/definitions/definitions';
import { type Branch, CompilationBudget, type Step } from './compile/compiled';
import { compile, lenient, type Scope } from './compile/compile';
import { valueOfExtension } from './compile/paths';
import { type Expression, ExpressionError } from './syntax/expression';

/**
 * Compiles the expression of a search parameter for one resource type. The FHIRPath library is never used here, since
 * each write derives index rows.
 * @returns the paths to the values; none if the expression names only other types
 * @throws ExpressionError if the expression cannot be compiled or names an element that the type does not have
 */
export function compilePaths(expression: Expression, type: string): readonly Branch[] {
  const focusType = isR4ResourceType(type) ? type : undefined;
  const { truth, branches } = compile(expression, scopeOf(focusType, type));
  if (truth === undefined) return plainPathsIn(branches, expression).map(valueOfExtension);
  // The only value of a boolean parameter, such as Patient's `deceased`, is the result of its expression.
  const answer = lenient(truth);
  const step: Step = {
    text: JSON.stringify(expression),
    isRepeated: false,
    walk: (next) => (focus, variables) => {
      const given = answer(focus, variables);
      if (given !== undefined) next(given, variables);
    },
  };
  return [{ type: 'boolean', steps: [step] }];
}

/**
 * Compiles the expression of a composite's component. It starts at an item of `type` in a resource of `resourceType`.
 * @throws ExpressionError as {@link compilePaths}
 */
export function compilePart(expression: Expression, type: string | undefined, resourceType: string): readonly Branch[] {
  return plainPathsIn(compile(expression, scopeOf(type, resourceType)).branches, expression);
}

const scopeOf = (focusType: string | undefined, resourceType: string): Scope => ({
  focusType,
  contextType: focusType,
  resourceType,
  isOfSearch: true,
  isOfChange: false,
  budget: new CompilationBudget(),
});

/**
 * Checks that all branches are paths, since index rows hold only values of the resource.
 * @throws ExpressionError for computed values
 */
function plainPathsIn(branches: readonly Branch[], expression: Expression): readonly Branch[] {
  const isPath = branches.every(({ steps }) => steps.every(({ values }) => values === undefined));
  if (!isPath) throw new ExpressionError('only paths to elements can be indexed', expression);
  return branches;
}
