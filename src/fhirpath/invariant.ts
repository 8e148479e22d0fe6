import { elementsOfType, lineageOf } from '../fhir/definitions/definitions';
import { assertAllowed, assertLength } from './allowed';
import { CompilationBudget, type Truth, truthOf } from './compile/compiled';
import { compile, lenient } from './compile/compile';
import { type Expression, ExpressionError } from './syntax/expression';
import { questionByLibrary } from './library';
import { parseExpression } from './syntax/parse-expression';

/**
 * Compiles an invariant of HL7 for the elements at `path`. Its result is undefined if FHIRPath defines none.
 * @param type the type or backbone element at the path
 * @throws ExpressionError for invalid FHIRPath
 */
export function compileInvariant(text: string, path: string, type: string): Truth {
  return compiledOrByLibrary(text, parseExpression(text), path, type);
}

/**
 * Compiles a constraint of a stored profile; its result is that of {@link compileInvariant}.
 * @throws ExpressionError for invalid FHIRPath, or features that expressions of callers may not use
 */
export function compileConstraint(text: string, path: string): Truth {
  assertLength(text, 'constraint');
  const expression = parseExpression(text);
  assertAllowed(expression, 'constraint');
  return compiledOrByLibrary(text, expression, path.replaceAll('[x]', ''), typeAt(path));
}

function compiledOrByLibrary(text: string, expression: Expression, path: string, type: string | undefined): Truth {
  const question = type === undefined ? undefined : compileQuestion(expression, path, type);
  return question ?? questionByLibrary(text, path);
}

/**
 * Compiles a boolean expression without the FHIRPath library. Undefined if the compiler does not support the expression
 * or a part of it.
 */
export function compileQuestion(expression: Expression, path: string, type: string): Truth | undefined {
  const [root = ''] = path.split('.');
  try {
    const question = compile(expression, {
      focusType: type,
      contextType: type,
      // Resources of any type may contain a data type, so no resource type is given for it.
      resourceType: lineageOf(root).includes('Resource') ? root : undefined,
      elements: elementsOfType,
      isOfSearch: false,
      isOfChange: false,
      budget: new CompilationBudget(),
    });
    return lenient(truthOf(question));
  } catch (error) {
    if (error instanceof ExpressionError) return undefined;
    throw error;
  }
}

/** The only type of an element; undefined for choices, and for paths that R4 does not define. */
function typeAt(path: string): string | undefined {
  const [root = '', ...steps] = path.split('.');
  let type: string | undefined = lineageOf(root).length === 0 ? undefined : root;
  for (const step of steps) {
    const element = type === undefined ? undefined : elementsOfType(type)?.get(step);
    type = element?.types.length === 1 ? element.types[0] : undefined;
  }
  return type;
}
