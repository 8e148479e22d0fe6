import { isSubtype } from '../../definitions';
import { type Compiled, existsOf, ofType, question, type Truth, truthOf, valuesOf } from './compiled';
import { equality, inequality, membership } from './comparison';
import { exists, FUNCTIONS } from './functions';
import { remembered } from './memory';
import { focusMember, joined, member, withoutDoubles } from './member';
import {
  argumentsOf,
  childOf,
  parseFhirPath,
  stringOf,
  type SyntaxNode,
  typeNameOf,
  UncompilableError,
  unwrap,
} from './syntax';

/** The types that the names of an expression start from. */
interface Scope {
  /** Of `$this`: the type or backbone element that an item has. */
  readonly focusType: string | undefined;
  readonly contextType: string;
  /** The resource type around the element; undefined for a data type, which any resource may hold. */
  readonly resourceType: string | undefined;
}

/**
 * Compiles a FHIRPath question about one element to closures over plain JSON: some 0.1 µs where the library takes 20 to 100 µs.
 * @param type the type or backbone element that the question is about
 * @throws UncompilableError when the expression leaves the subset
 * @throws Error when it is no FHIRPath
 */
export function compileFhirPath(expression: string, type: string, resourceType: string | undefined): Truth {
  return truthOf(compile(parseFhirPath(expression), { focusType: type, contextType: type, resourceType }));
}

const CONSTANTS: Readonly<Record<string, string>> = {
  ucum: 'http://unitsofmeasure.org',
  sct: 'http://snomed.info/sct',
  loinc: 'http://loinc.org',
};

function compile(wrapped: SyntaxNode, scope: Scope): Compiled {
  const node = unwrap(wrapped);
  const part = (index: number): Compiled => compile(childOf(node, index), scope);
  switch (node.type) {
    case 'MemberInvocation':
      return root(node, scope);
    case 'ThisInvocation':
      return { branches: [{ type: scope.focusType, values: (focus) => [focus] }] };
    case 'FunctionInvocation':
      return call({ branches: [{ type: scope.focusType, values: (focus) => [focus] }] }, node, scope);
    case 'InvocationExpression': {
      const found = invoke(part(0), unwrap(childOf(node, 1)), scope);
      return isRootedInVariable(node) ? remembered(found) : found;
    }
    case 'IndexerExpression':
      return at(part(0), unwrap(childOf(node, 1)));
    case 'ExternalConstantTerm':
      return constant(node, scope);
    case 'StringLiteral':
      return literal(stringOf(node.text ?? ''));
    case 'NumberLiteral':
      return literal(Number(node.text));
    case 'BooleanLiteral':
      return literal(node.text === 'true');
    case 'NullLiteral':
      return { branches: [] };
    case 'AndExpression':
      return logical(false, truthOf(part(0)), truthOf(part(1)));
    case 'OrExpression':
      if (node.text === 'xor') return exclusive(truthOf(part(0)), truthOf(part(1)));
      return logical(true, truthOf(part(0)), truthOf(part(1)));
    case 'ImpliesExpression':
      return implication(truthOf(part(0)), truthOf(part(1)));
    case 'EqualityExpression':
      if (node.text !== '=' && node.text !== '!=') throw new UncompilableError(`"${node.text}" is left to the library`);
      return equality(part(0), part(1), node.text === '=');
    case 'InequalityExpression':
      return inequality(node.text ?? '', part(0), part(1));
    case 'MembershipExpression':
      return node.text === 'in' ? membership(part(0), part(1)) : membership(part(1), part(0));
    case 'UnionExpression':
      return withoutDoubles(joined([part(0), part(1)]));
    case 'AdditiveExpression':
      return sum(node.text ?? '', part(0), part(1));
    case 'TypeExpression':
      return ofTypeOrQuestion(part(0), node.text ?? '', typeNameOf(childOf(node, 1)));
    default:
      throw new UncompilableError(`${node.type} is not compiled`);
  }
}

/** `%resource.type`, `%context.grouping.id`: the same for every item, as no function of it has an argument. */
function isRootedInVariable(node: SyntaxNode): boolean {
  const [left, right] = node.children ?? [];
  if (left === undefined || right === undefined) return false;
  if (right.type === 'FunctionInvocation' && argumentsOf(right).length > 0) return false;
  const root = unwrap(left);
  if (root.type === 'ExternalConstantTerm') return true;
  return root.type === 'InvocationExpression' && isRootedInVariable(root);
}

/** A name that nothing stands before: a type that roots the path, or a member of the focus. */
function root(node: SyntaxNode, scope: Scope): Compiled {
  const name = (node.text ?? '').replaceAll('`', '');
  const { focusType } = scope;
  if (focusType === undefined) throw new UncompilableError(`nothing has a member "${name}" here`);
  if (/^[A-Z]/.test(name) && isSubtype(focusType, name)) {
    return { branches: [{ type: focusType, values: (focus) => [focus] }] };
  }
  return focusMember(focusType, name);
}

function invoke(of: Compiled, node: SyntaxNode, scope: Scope): Compiled {
  if (node.type === 'MemberInvocation') return member(of, (node.text ?? '').replaceAll('`', ''));
  if (node.type === 'FunctionInvocation') return call(of, node, scope);
  throw new UncompilableError(`${node.type} is not compiled`);
}

function call(subject: Compiled, node: SyntaxNode, scope: Scope): Compiled {
  const name = node.text ?? '';
  const given = argumentsOf(node);
  const argument = (index: number, focusType: string | undefined): Compiled => {
    const found = given[index];
    if (found === undefined) throw new UncompilableError(`${name}() lacks an argument`);
    return compile(found, { ...scope, focusType: focusType ?? scope.focusType });
  };
  if (name === 'exists') return exists(subject, given.length === 0 ? undefined : (type) => argument(0, type));
  const [type] = given;
  if ((name === 'ofType' || name === 'is' || name === 'as') && type !== undefined) {
    return ofTypeOrQuestion(subject, name, typeNameOf(typeNode(type)));
  }
  const make = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined;
  if (make === undefined) throw new UncompilableError(`${name}() is left to the library`);
  return make(subject, argument);
}

/** `FHIR.Quantity` as an argument is a path of two names. */
function typeNode(wrapped: SyntaxNode): SyntaxNode {
  const node = unwrap(wrapped);
  return node.type === 'InvocationExpression' ? unwrap(childOf(node, 1)) : node;
}

function ofTypeOrQuestion(subject: Compiled, operator: string, type: string): Compiled {
  const narrowed = ofType(subject, type);
  if (operator !== 'is') return narrowed;
  const [all, fitting] = [valuesOf(subject), existsOf(narrowed)];
  return question((focus, variables) => (all(focus, variables).length === 0 ? undefined : fitting(focus, variables)));
}

function at(of: Compiled, index: SyntaxNode): Compiled {
  if (index.type !== 'NumberLiteral') throw new UncompilableError('an index is a number');
  const [values, position] = [valuesOf(of), Number(index.text)];
  const type = of.branches.length === 1 ? of.branches[0]?.type : undefined;
  return {
    branches: [{ type, values: (focus, variables) => values(focus, variables).slice(position, position + 1) }],
  };
}

function constant(node: SyntaxNode, scope: Scope): Compiled {
  const name = (node.text ?? '').replaceAll('`', '');
  if (name === 'context')
    return { branches: [{ type: scope.contextType, values: (_focus, { context }) => [context] }] };
  if (name === 'resource' && scope.resourceType !== undefined) {
    return { branches: [{ type: scope.resourceType, values: (_focus, { resource }) => [resource] }] };
  }
  const url = CONSTANTS[name];
  if (url === undefined) throw new UncompilableError(`%${name} is left to the library`);
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
function sum(operator: string, left: Compiled, right: Compiled): Compiled {
  const [a, b] = [valuesOf(left), valuesOf(right)];
  if (operator !== '+' && operator !== '&') throw new UncompilableError(`"${operator}" is left to the library`);
  return {
    branches: [
      {
        type: undefined,
        values: (focus, variables) => {
          const [x] = a(focus, variables);
          const [y] = b(focus, variables);
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
