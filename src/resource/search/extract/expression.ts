import { elementsOf, isR4ResourceType, isSubtype, memberKey } from '../../../fhir/definitions';
import { targetOf } from '../../../fhir/reference';
import {
  CompilationBudget,
  type Expression,
  ExpressionError,
  type Operator,
  typeNameOf,
} from '../../../fhir/fhirpath/expression';
import { type Branch, isObject, type Scope, type Step, visitEach, walkSteps } from './branch';

/**
 * Compiles a search parameter's expression for one resource type. Everything that types decide is decided here, so that at
 * run time closures follow plain JSON members. Alternatives that name other types are left out.
 * @returns the branches; none when the expression speaks of other types only
 * @throws ExpressionError when the expression leaves the subset or names an element that the type does not have
 */
export function compileExpression(expression: Expression, type: string): readonly Branch[] {
  const root: Branch = { steps: [], type: isR4ResourceType(type) ? type : undefined };
  const resource = compiledResource(type);
  const branches = isBoolean(expression)
    ? [{ steps: [booleanStep(expression, root, resource)], type: 'boolean' }]
    : compileNodes(expression, root, resource);
  return branches.map(valueOfExtension);
}

/**
 * Compiles the expression of a composite's part, which starts from an item of `type` in a resource of `resourceType`.
 * @throws ExpressionError as {@link compileExpression}
 */
export function compilePart(expression: Expression, type: string | undefined, resourceType: string): readonly Branch[] {
  return compileNodes(expression, { steps: [], type }, compiledResource(resourceType));
}

/** What one compilation is about, and how much it may still make. */
interface CompiledResource {
  readonly type: string;
  readonly budget: CompilationBudget;
}

const compiledResource = (type: string): CompiledResource => ({ type, budget: new CompilationBudget() });

/**
 * @param focus what a path without a root starts from: the resource, or the item that `where` looks at
 * @param resource its type is the name that roots a path
 */
function compileNodes(expression: Expression, focus: Branch, resource: CompiledResource): readonly Branch[] {
  const branches = compileNode(expression, focus, resource);
  resource.budget.spend(branches.length);
  return branches;
}

function compileNode(expression: Expression, focus: Branch, resource: CompiledResource): readonly Branch[] {
  switch (expression.kind) {
    case 'member':
      if (expression.of !== undefined) return member(compileNodes(expression.of, focus, resource), expression.name);
      return rootOf(expression.name, focus, resource.type) ?? member([focus], expression.name);
    case 'call':
      return call(expression, focus, resource);
    case 'index':
      return index(compileNodes(expression.of, focus, resource), expression.index);
    case 'this':
      return [focus];
    case 'binary':
      if (expression.operator === 'as')
        return ofType(compileNodes(expression.left, focus, resource), typeNameOf(expression.right));
      if (expression.operator !== '|') throw new ExpressionError(`"${expression.operator}" is not supported there`);
      return [...compileNodes(expression.left, focus, resource), ...compileNodes(expression.right, focus, resource)];
    case 'variable':
      if (expression.name !== 'resource') throw new ExpressionError(`%${expression.name} is not supported`);
      return [{ steps: [RESOURCE_STEP], type: isR4ResourceType(resource.type) ? resource.type : undefined }];
    case 'literal':
    case 'empty':
      throw new ExpressionError(`a ${expression.kind} is not supported there`);
  }
}

/** The whole resource, whatever a path started from. */
export const RESOURCE_STEP: Step = {
  text: '%resource',
  isRepeated: false,
  walk: (next) => (_value, scope) => {
    next(scope.resource, scope);
  },
};

/** Types begin with a capital, elements do not: `Patient.name` in the expression that several types share. */
function rootOf(name: string, focus: Branch, resourceType: string): readonly Branch[] | undefined {
  if (!/^[A-Z]/.test(name)) return undefined;
  if (name === resourceType) return [focus];
  if (focus.type === undefined ? name === 'Resource' : isSubtype(focus.type, name))
    return [{ ...focus, type: focus.type ?? name }];
  return [];
}

function call(expression: Expression & { kind: 'call' }, focus: Branch, resource: CompiledResource): readonly Branch[] {
  const { of, name } = expression;
  const argument = onlyArgumentOf(expression);
  if (argument === undefined) throw new ExpressionError(`${name}() is not supported there`);
  const subject = (): readonly Branch[] => (of === undefined ? [focus] : compileNodes(of, focus, resource));
  switch (name) {
    case 'where':
      return subject().map((branch) => addStep(branch, whereStep(argument, branch, resource), branch.type));
    case 'ofType':
    case 'as':
      return ofType(subject(), typeNameOf(argument));
    case 'extension':
      return call(extensionsWith(of, argument), focus, resource);
    default:
      throw new ExpressionError(`${name}() is not supported`);
  }
}

function member(branches: readonly Branch[], name: string): readonly Branch[] {
  const children = branches.flatMap((branch) => memberOf(branch, name));
  if (children.length > 0 || branches.length === 0) return children;
  throw new ExpressionError(`${branches.map(({ type }) => type).join(', ')} has no element "${name}"`);
}

function memberOf(branch: Branch, name: string): readonly Branch[] {
  if (branch.type === undefined) return [addStep(branch, memberStep(name, false), undefined)];
  const element = elementsOf(branch.type)?.get(name);
  if (element === undefined) return [];
  return element.types.map((type) => {
    return addStep(branch, memberStep(memberKey(element, type), element.isRepeated), type);
  });
}

function memberStep(key: string, isRepeated: boolean): Step {
  return {
    text: key,
    member: key,
    jsonPath: `.${JSON.stringify(key)}`,
    isRepeated,
    walk: (next) => (value, scope) => {
      if (isObject(value)) visitEach(value[key], next, scope);
    },
  };
}

function ofType(branches: readonly Branch[], name: string): readonly Branch[] {
  return branches.filter(({ type }) => {
    if (type === undefined) throw new ExpressionError(`"as ${name}" needs a type table`);
    return isSubtype(type, name);
  });
}

/** `[n]` counts over the whole collection, so the steps before it become one. */
function index(branches: readonly Branch[], position: number): readonly Branch[] {
  const [branch, ...others] = branches;
  if (branch === undefined) return [];
  if (others.length > 0) throw new ExpressionError('an index after a union or choice is not supported');
  const collect = collector([branch]);
  const step: Step = {
    text: `${branch.steps.map(({ text }) => text).join('.')}[${position}]`,
    ...jsonPathOf(branch.steps, `[${position}]`),
    isRepeated: false,
    walk: (next) => (value, scope) => {
      const found = collect(value, scope)[position];
      if (found !== undefined) next(found, scope);
    },
  };
  return [{ steps: [step], type: branch.type }];
}

function whereStep(argument: Expression, branch: Branch, resource: CompiledResource): Step {
  const holds = condition(argument, { steps: [], type: branch.type }, resource);
  const isResolved =
    argument.kind === 'binary' &&
    argument.operator === 'is' &&
    isResolveOf(argument.left) &&
    argument.left.of === undefined;
  return {
    text: `where(${JSON.stringify(argument)})`,
    ...equalityPathOf(argument),
    isRepeated: false,
    ...(isResolved ? { resolvesTo: typeNameOf(argument.right) } : {}),
    walk: (next) => (value, scope) => {
      if (holds(value, scope) === true) next(value, scope);
    },
  };
}

/** `where(system = 'phone')` is a filter of the JSON path language too. */
function equalityPathOf(argument: Expression): Pick<Step, 'jsonPath'> {
  if (argument.kind !== 'binary' || argument.operator !== '=') return {};
  const { left, right } = argument;
  if (left.kind !== 'member' || left.of !== undefined || right.kind !== 'literal') return {};
  return { jsonPath: ` ? (@.${JSON.stringify(left.name)} == ${JSON.stringify(right.value)})` };
}

/** The path of several steps as one, when each has one. */
function jsonPathOf(steps: readonly Step[], end: string): Pick<Step, 'jsonPath'> {
  const paths = steps.map(({ jsonPath }) => jsonPath);
  return paths.includes(undefined) ? {} : { jsonPath: `${paths.join('')}${end}` };
}

/** A parameter that is a question, such as Patient's `deceased`, has its answer as the only value. */
function booleanStep(expression: Expression, root: Branch, resource: CompiledResource): Step {
  const answer = condition(expression, root, resource);
  return {
    text: JSON.stringify(expression),
    isRepeated: false,
    walk: (next) => (value, scope) => {
      const given = answer(value, scope);
      if (given !== undefined) next(given, scope);
    },
  };
}

/** A search parameter that names an extension means its value. */
function valueOfExtension(branch: Branch): Branch {
  if (branch.type !== 'Extension') return branch;
  const step: Step = {
    text: 'value[x]',
    jsonPath: '.keyvalue() ? (@.key starts with "value").value',
    isRepeated: false,
    walk: (next) => (extension, scope) => {
      if (!isObject(extension)) return;
      for (const key of Object.keys(extension)) if (key.startsWith('value')) visitEach(extension[key], next, scope);
    },
  };
  return addStep(branch, step, undefined);
}

/** FHIRPath has three truth values; undefined is its empty collection. */
type Condition = (value: unknown, scope: Scope) => boolean | undefined;

const QUESTIONS: ReadonlySet<Operator> = new Set(['and', 'or', '=', '!=', 'is']);

function isBoolean(expression: Expression): boolean {
  if (expression.kind === 'binary') return QUESTIONS.has(expression.operator);
  return expression.kind === 'call' && (expression.name === 'exists' || expression.name === 'hasExtension');
}

function condition(expression: Expression, focus: Branch, resource: CompiledResource): Condition {
  if (expression.kind === 'binary') {
    const { operator, left, right } = expression;
    if (operator === 'and' || operator === 'or') {
      return logical(operator === 'or', condition(left, focus, resource), condition(right, focus, resource));
    }
    if (operator === '=' || operator === '!=') {
      return comparison(operator === '=', collector(compileNodes(left, focus, resource)), right);
    }
    if (operator === 'is' && isResolveOf(left)) {
      const references = left.of === undefined ? [focus] : compileNodes(left.of, focus, resource);
      return resolvedType(collector(references), typeNameOf(right));
    }
  }
  if (expression.kind === 'call') return callCondition(expression, focus, resource);
  throw new ExpressionError('this condition is not supported');
}

function callCondition(
  expression: Expression & { kind: 'call' },
  focus: Branch,
  resource: CompiledResource,
): Condition {
  const { of, name } = expression;
  const argument = onlyArgumentOf(expression);
  if (name === 'exists' && of !== undefined && argument === undefined) return exists(compileNodes(of, focus, resource));
  if (name === 'hasExtension' && argument !== undefined) {
    return exists(call(extensionsWith(of, argument), focus, resource));
  }
  throw new ExpressionError(`${name}() is not supported as a condition`);
}

function logical(decisive: boolean, left: Condition, right: Condition): Condition {
  return (value, scope) => {
    const a = left(value, scope);
    if (a === decisive) return decisive;
    const b = right(value, scope);
    return b === decisive ? decisive : a === undefined || b === undefined ? undefined : !decisive;
  };
}

function comparison(isEqual: boolean, collect: Collector, right: Expression): Condition {
  if (right.kind !== 'literal') throw new ExpressionError('values are compared with literals only');
  return (value, scope) => {
    const found = collect(value, scope);
    if (found.length === 0) return undefined;
    return (found.length === 1 && found[0] === right.value) === isEqual;
  };
}

function exists(branches: readonly Branch[]): Condition {
  const collect = collector(branches);
  return (value, scope) => collect(value, scope).length > 0;
}

function resolvedType(collect: Collector, type: string): Condition {
  return (value, scope) => collect(value, scope).some((reference) => typeOfTarget(reference, scope) === type);
}

/** The type is read from the reference itself: whether the target exists is not asked. */
function typeOfTarget(reference: unknown, scope: Scope): unknown {
  const target = targetOf(reference, scope.baseUrl);
  if (target === undefined || !isObject(reference)) return undefined;
  if (target.kind === 'urn') return reference.type;
  return target.kind === 'contained' ? scope.containedType(target.id) : target.type;
}

type Collector = (value: unknown, scope: Scope) => readonly unknown[];

/** Gathers what the branches reach. Expressions do not recurse, so one list at a time is enough. */
function collector(branches: readonly Branch[]): Collector {
  let found: unknown[] = [];
  const visits = branches.map(({ steps }) => walkSteps<Scope>(steps, (value) => found.push(value)));
  return (value, scope) => {
    found = [];
    for (const visit of visits) visit(value, scope);
    return found;
  };
}

/** `extension(url)` is short for `extension.where(url = …)`. */
function extensionsWith(of: Expression | undefined, url: Expression): Expression & { kind: 'call' } {
  const extensions: Expression = { kind: 'member', ...(of === undefined ? {} : { of }), name: 'extension' };
  const hasUrl: Expression = { kind: 'binary', operator: '=', left: { kind: 'member', name: 'url' }, right: url };
  return { kind: 'call', of: extensions, name: 'where', arguments: [hasUrl] };
}

/** The functions that parameters use have one argument at most. */
function onlyArgumentOf({ name, arguments: given }: Expression & { kind: 'call' }): Expression | undefined {
  if (given.length > 1) throw new ExpressionError(`${name}() has one argument at most`);
  return given[0];
}

function isResolveOf(expression: Expression): expression is Expression & { kind: 'call' } {
  return expression.kind === 'call' && expression.name === 'resolve' && expression.arguments.length === 0;
}

function addStep(branch: Branch, step: Step, type: string | undefined): Branch {
  return { steps: [...branch.steps, step], type };
}
