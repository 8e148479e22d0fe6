import { isSubtype } from '../../definitions';
import { CompilationBudget, type Expression, ExpressionError, typeNameOf } from '../../fhirpath/expression';
import { parseExpression } from '../../fhirpath/parse-expression';
import {
  assertSingle,
  type Compiled,
  existsOf,
  ofType,
  question,
  type Truth,
  truthOf,
  type Values,
  valuesOf,
  type Variables,
} from './compiled';
import { equality, inequality, membership } from './comparison';
import { exists, FUNCTIONS } from './functions';
import { remembered } from './memory';
import { focusMember, joined, member, withoutDoubles } from './member';

/** The types that the names of an expression start from. */
interface Scope {
  /** Of `$this`: the type or backbone element that an item has. */
  readonly focusType: string | undefined;
  readonly contextType: string;
  /** The resource type around the element; undefined for a data type, which any resource may hold. */
  readonly resourceType: string | undefined;
  /** Whether `%current` and `%previous` are versions of the resource. */
  readonly isOfChange: boolean;
  readonly budget: CompilationBudget;
}

/**
 * Compiles a FHIRPath question about one element to closures over plain JSON: some 0.1 µs where the library takes 20 to 100 µs.
 * @param type the type or backbone element that the question is about
 * @throws ExpressionError when the expression leaves the subset, or is no FHIRPath
 */
export function compileFhirPath(expression: string, type: string, resourceType: string | undefined): Truth {
  return truthOf(
    compile(parseExpression(expression), {
      focusType: type,
      contextType: type,
      resourceType,
      isOfChange: false,
      budget: new CompilationBudget(),
    }),
  );
}

/** Whether an expression about a change of a resource yields true, and nothing else. */
export type ChangeQuestion = (focus: unknown, variables: Variables) => boolean;

/**
 * Compiles a FHIRPath question about a change of a resource of `type`: `%current` and `%previous` are its versions.
 * @throws ExpressionError as {@link compileFhirPath}; UnknownElement for a name that no version can have
 */
export function compileChangeQuestion(expression: string, type: string): ChangeQuestion {
  const compiled = compile(parseExpression(expression), {
    focusType: type,
    contextType: type,
    resourceType: type,
    isOfChange: true,
    budget: new CompilationBudget(),
  });
  const values = valuesOf(compiled);
  return (focus, variables) => {
    const found = values(focus, variables);
    return found.length === 1 && found[0] === true;
  };
}

const CONSTANTS: Readonly<Record<string, string>> = {
  ucum: 'http://unitsofmeasure.org',
  sct: 'http://snomed.info/sct',
  loinc: 'http://loinc.org',
};

function compile(expression: Expression, scope: Scope): Compiled {
  const compiled = compileNode(expression, scope);
  scope.budget.spend(compiled.branches.length);
  return compiled;
}

function compileNode(expression: Expression, scope: Scope): Compiled {
  switch (expression.kind) {
    case 'member': {
      const { of, name } = expression;
      if (of === undefined) return root(name, scope);
      const found = member(compile(of, scope), name);
      return isRootedInVariable(of) ? remembered(found) : found;
    }
    case 'call': {
      const { of } = expression;
      const found = call(of === undefined ? focusOf(scope) : compile(of, scope), expression, scope);
      return expression.arguments.length === 0 && isRootedInVariable(of) ? remembered(found) : found;
    }
    case 'this':
      return focusOf(scope);
    case 'index':
      return at(compile(expression.of, scope), expression.index);
    case 'variable':
      return constant(expression.name, scope);
    case 'literal':
      return literal(expression.value);
    case 'empty':
      return { branches: [] };
    case 'binary':
      return operation(expression, scope);
  }
}

function focusOf({ focusType }: Scope): Compiled {
  return { branches: [{ type: focusType, values: (focus) => [focus] }] };
}

function operation({ operator, left, right }: Expression & { kind: 'binary' }, scope: Scope): Compiled {
  if (operator === 'is' || operator === 'as') {
    return ofTypeOrQuestion(compile(left, scope), operator, typeNameOf(right));
  }
  const [a, b] = [compile(left, scope), compile(right, scope)];
  switch (operator) {
    case 'and':
      return logical(false, truthOf(a), truthOf(b));
    case 'or':
      return logical(true, truthOf(a), truthOf(b));
    case 'xor':
      return exclusive(truthOf(a), truthOf(b));
    case 'implies':
      return implication(truthOf(a), truthOf(b));
    case '=':
    case '!=':
      return equality(a, b, operator === '=');
    case '<':
    case '<=':
    case '>':
    case '>=':
      return inequality(operator, a, b);
    case 'in':
      return membership(a, b);
    case 'contains':
      return membership(b, a);
    case '|':
      return withoutDoubles(joined([a, b]));
    case '+':
    case '&':
      return sum(operator, a, b);
    default:
      throw new ExpressionError(`"${operator}" is left to the library`);
  }
}

/** `%resource.type`, `%context.grouping.id`: the same for every item, as no function of it has an argument. */
function isRootedInVariable(expression: Expression | undefined): boolean {
  let root = expression;
  while (root?.kind === 'member' || root?.kind === 'call') {
    if (root.kind === 'call' && root.arguments.length > 0) return false;
    root = root.of;
  }
  return root?.kind === 'variable';
}

/** A name that nothing stands before: a type that roots the path, or a member of the focus. */
function root(name: string, { focusType }: Scope): Compiled {
  if (focusType === undefined) throw new ExpressionError(`nothing has a member "${name}" here`);
  if (/^[A-Z]/.test(name) && isSubtype(focusType, name)) {
    return { branches: [{ type: focusType, values: (focus) => [focus] }] };
  }
  return focusMember(focusType, name);
}

function call(subject: Compiled, { name, arguments: given }: Expression & { kind: 'call' }, scope: Scope): Compiled {
  const argument = (index: number, focusType: string | undefined): Compiled => {
    const found = given[index];
    if (found === undefined) throw new ExpressionError(`${name}() lacks an argument`);
    return compile(found, { ...scope, focusType: focusType ?? scope.focusType });
  };
  if (name === 'exists') return exists(subject, given.length === 0 ? undefined : (type) => argument(0, type));
  const [type] = given;
  if ((name === 'ofType' || name === 'is' || name === 'as') && type !== undefined) {
    return ofTypeOrQuestion(subject, name, typeNameOf(type));
  }
  const make = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined;
  if (make === undefined) throw new ExpressionError(`${name}() is left to the library`);
  return make(subject, argument, given.length);
}

function ofTypeOrQuestion(subject: Compiled, operator: string, type: string): Compiled {
  const narrowed = ofType(subject, type);
  if (operator !== 'is') return narrowed;
  const [all, fitting] = [valuesOf(subject), existsOf(narrowed)];
  return question((focus, variables) => (all(focus, variables).length === 0 ? undefined : fitting(focus, variables)));
}

function at(of: Compiled, position: number): Compiled {
  const values = valuesOf(of);
  const type = of.branches.length === 1 ? of.branches[0]?.type : undefined;
  return {
    branches: [{ type, values: (focus, variables) => values(focus, variables).slice(position, position + 1) }],
  };
}

function constant(name: string, scope: Scope): Compiled {
  if (name === 'context')
    return { branches: [{ type: scope.contextType, values: (_focus, { context }) => [context] }] };
  if (name === 'resource' && scope.resourceType !== undefined) {
    return { branches: [{ type: scope.resourceType, values: (_focus, { resource }) => [resource] }] };
  }
  if (scope.isOfChange && (name === 'current' || name === 'previous')) {
    const values: Values = (_focus, variables) => (variables[name] === undefined ? [] : [variables[name]]);
    return { branches: [{ type: scope.resourceType, values }] };
  }
  const url = Object.hasOwn(CONSTANTS, name) ? CONSTANTS[name] : undefined;
  if (url === undefined) throw new ExpressionError(`%${name} is left to the library`);
  return literal(url);
}

function literal(value: string | number | boolean): Compiled {
  const values = [value];
  const compiled = { branches: [{ type: undefined, values: () => values }] };
  return typeof value === 'boolean' ? { ...compiled, truth: () => value } : compiled;
}

/** `or` with true as the value that decides, `and` with false. */
function logical(decisive: boolean, left: Truth, right: Truth): Compiled {
  return question((focus, variables) => {
    const a = left(focus, variables);
    if (a === decisive) return decisive;
    const b = right(focus, variables);
    return b === decisive ? decisive : a === undefined || b === undefined ? undefined : !decisive;
  });
}

function exclusive(left: Truth, right: Truth): Compiled {
  return question((focus, variables) => {
    const [a, b] = [left(focus, variables), right(focus, variables)];
    return a === undefined || b === undefined ? undefined : a !== b;
  });
}

function implication(left: Truth, right: Truth): Compiled {
  return question((focus, variables) => {
    const a = left(focus, variables);
    if (a === false) return true;
    const b = right(focus, variables);
    return a === true ? b : b === true ? true : undefined;
  });
}

/** `+` of numbers; `&` of texts, where an empty side is an empty text. */
function sum(operator: '+' | '&', left: Compiled, right: Compiled): Compiled {
  const [a, b] = [valuesOf(left), valuesOf(right)];
  return {
    branches: [
      {
        type: undefined,
        values: (focus, variables) => {
          const [xs, ys] = [a(focus, variables), b(focus, variables)];
          for (const side of [xs, ys]) assertSingle(side, variables);
          const [[x], [y]] = [xs, ys];
          if (operator === '&') return [`${textOf(x)}${textOf(y)}`];
          return typeof x === 'number' && typeof y === 'number' ? [x + y] : [];
        },
      },
    ],
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}
