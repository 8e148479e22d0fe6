import { elementsOfType, isR4ResourceType } from '../fhir/definitions/definitions';
import { type NamedElements } from '../fhir/definitions/element-tables';
import { type Branch, CompilationBudget, type Step } from './compile/compiled';
import { compile, lenient, type Scope } from './compile/compile';
import { valueOfExtension } from './compile/paths';
import { type Expression, ExpressionError } from './syntax/expression';

/**
 * Compiles the expression of a search parameter for one resource type. The FHIRPath library is never used here, since
 * each write derives index rows.
 * @param elements the elements that the expression may name, of R4 or also of modules
 * @returns the paths to the values; none if the expression names only other types
 * @throws ExpressionError if the expression cannot be compiled or names an element that the type does not have
 */
export function compilePaths(
  expression: Expression,
  type: string,
  elements: NamedElements = elementsOfType,
): readonly Branch[] {
  const focusType = elements(type) === undefined ? undefined : type;
  const { truth, branches } = compile(expression, scopeOf(focusType, type, elements));
  if (truth === undefined) {
    const paths = plainPathsIn(branches, expression);
    // Expressions about a type of a module name the JSON member with the value.
    return isR4ResourceType(type) ? paths.map(valueOfExtension) : paths;
  }
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
 * Compiles the expression of a composite's component, from an item of `type` in a resource of `resourceType`.
 * @throws ExpressionError as {@link compilePaths}
 */
export function compilePart(expression: Expression, type: string | undefined, resourceType: string): readonly Branch[] {
  return plainPathsIn(compile(expression, scopeOf(type, resourceType, elementsOfType)).branches, expression);
}

const scopeOf = (focusType: string | undefined, resourceType: string, elements: NamedElements): Scope => ({
  focusType,
  contextType: focusType,
  resourceType,
  elements,
  isOfSearch: true,
  isOfChange: false,
  budget: new CompilationBudget(),
});

/** @throws ExpressionError for computed values: index rows hold only values of the resource */
function plainPathsIn(branches: readonly Branch[], expression: Expression): readonly Branch[] {
  const isPath = branches.every(({ steps }) => steps.every(({ values }) => values === undefined));
  if (!isPath) throw new ExpressionError('only paths to elements can be indexed', expression);
  return branches;
}
