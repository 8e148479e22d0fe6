import { isPrimitiveType, isSubtype, memberKey, membersOfType } from '../../fhir/definitions/definitions';
import { type NamedElements } from '../../fhir/definitions/element-tables';
import { isObject } from '../../platform/json/plain-object';
import { nearestCode } from '../../platform/text/nearest-code';
import { type Expression, ExpressionError, NotCompiled, type TypeName } from '../syntax/expression';
import { type Branch, type Compiled, computedBranch, evaluatorOf, type Step, type Truth } from './compiled';
import { isSystem, MIXED, Primitive } from './values';

const OPEN_TYPES = ['Resource', 'DomainResource', 'Element', 'BackboneElement'];

/**
 * Compiles `of.name`, with one branch for each type of the member.
 * @param keepsSiblings whether primitives keep their sibling `_name`
 * @throws ExpressionError for a name that none of the possible types has, and that no other resource at this place
 *   could have; NotCompiled if the name may be right
 */
export function member(
  { branches }: Compiled,
  node: Expression & { kind: 'member' },
  elements: NamedElements,
  keepsSiblings: boolean,
): Compiled {
  const found = branches.flatMap((branch) => memberBranches(branch, node.name, elements, keepsSiblings));
  if (found.length > 0 || branches.length === 0) return { branches: found };
  const types = branches.map(({ type }) => type);
  const known = types.filter((type): type is string => type !== undefined && elements(type) !== undefined);
  // If a resource of any type is possible here, a member of any of these types is valid.
  const isCertain = known.length === types.length && !known.some((type) => OPEN_TYPES.includes(type));
  const fault = `${types.join(', ')} has no element "${node.name}"`;
  if (!isCertain || isJsonName(known, node.name)) throw new NotCompiled(fault, node);
  const names = known.flatMap((type) => [...(elements(type)?.keys() ?? [])]);
  const near = nearestCode(node.name, names);
  throw new ExpressionError(near === undefined ? fault : `${fault}; do you mean "${near}"?`, node);
}

/**
 * Whether a name is the JSON name of a choice, such as `valueQuantity` for `value`. The FHIRPath library accepts such
 * names.
 */
const isJsonName = (types: readonly string[], name: string): boolean =>
  types.some((type) => membersOfType(type)?.get(name)?.element.isChoice === true);

function memberBranches(
  { type, steps }: Branch,
  name: string,
  elements: NamedElements,
  keepsSiblings: boolean,
): readonly Branch[] {
  const known = type === undefined ? undefined : elements(type);
  if (known === undefined)
    return keepsSiblings ? [] : [{ steps: [...steps, memberStep(name, false)], type: undefined }];
  const element = known.get(name);
  if (element === undefined) return [];
  return element.types.map((of) => {
    const key = memberKey(element, of);
    const step = memberStep(key, element.isRepeated, keepsSiblings && isPrimitiveType(of));
    return { steps: [...steps, step], type: of };
  });
}

function memberStep(key: string, isRepeated: boolean, isPrimitive = false): Step {
  const sibling = `_${key}`;
  return {
    text: key,
    member: key,
    jsonPath: `.${JSON.stringify(key)}`,
    isRepeated,
    walk: (next) => (value, variables) => {
      const owner = value instanceof Primitive ? value.element : value;
      if (!isObject(owner)) return;
      const extra = isPrimitive ? owner[sibling] : undefined;
      if (extra === undefined || extra === null) visitEach(owner[key], next, variables);
      else
        visitPrimitives(owner[key], extra, (one) => {
          next(one, variables);
        });
    },
  };
}

/** Passes a JSON member to `visit`: each item of an array; nothing if it is null. */
export function visitEach<V>(value: unknown, visit: (item: unknown, variables: V) => void, variables: V): void {
  if (value === undefined || value === null) return;
  if (!Array.isArray(value)) {
    visit(value, variables);
    return;
  }
  for (const item of value as unknown[]) if (item !== null) visit(item, variables);
}

/** Primitives and their siblings have the same indexes (http://hl7.org/fhir/R4/json.html#primitive). */
function visitPrimitives(values: unknown, siblings: unknown, visit: (value: unknown) => void): void {
  const [own, extra] = [values, siblings].map((one): readonly unknown[] => (Array.isArray(one) ? one : [one]));
  for (let at = 0; at < Math.max(own?.length ?? 0, extra?.length ?? 0); at += 1) {
    const [value, element] = [own?.[at] ?? undefined, extra?.[at] ?? undefined];
    if (element !== undefined) visit(new Primitive(value, element));
    else if (value !== undefined) visit(value);
  }
}

/** A step that leads to the whole resource, wherever it starts. */
export const RESOURCE_STEP: Step = {
  text: '%resource',
  isRepeated: false,
  walk: (next) => (_value, variables) => {
    next(variables.resource, variables);
  },
};

/**
 * Makes the step of a path from `where(…)`: it passes on the values for which the condition holds. So the whole
 * expression remains a path, which search parameters require.
 */
export function whereStep(argument: Expression, holds: Truth, resolvesTo: string | undefined): Step {
  return {
    text: `where(${JSON.stringify(argument)})`,
    ...equalityPathOf(argument),
    isRepeated: false,
    ...(resolvesTo === undefined ? {} : { resolvesTo }),
    walk: (next) => (value, variables) => {
      if (holds(value, variables) === true) next(value, variables);
    },
  };
}

/** The JSON path filter of `where(system = 'phone')`; empty for other conditions. */
function equalityPathOf(argument: Expression): Pick<Step, 'jsonPath'> {
  if (argument.kind !== 'binary' || argument.operator !== '=') return {};
  const { left, right } = argument;
  if (left.kind !== 'member' || left.of !== undefined || right.kind !== 'literal') return {};
  return { jsonPath: ` ? (@.${JSON.stringify(left.name)} == ${JSON.stringify(right.value)})` };
}

/**
 * Compiles `[n]`. The index counts over the whole collection, so all steps before it become one step that computes this
 * collection.
 */
export function indexed({ branches }: Compiled, position: number): Compiled {
  const [branch, ...others] = branches;
  if (branch === undefined) return { branches };
  if (others.length > 0) throw new NotCompiled('an index after a union or choice is not supported');
  const values = evaluatorOf({ branches: [branch] });
  const paths = branch.steps.map(({ jsonPath }) => jsonPath);
  const step: Step = {
    text: `${branch.steps.map(({ text }) => text).join('.')}[${position}]`,
    ...(paths.includes(undefined) ? {} : { jsonPath: `${paths.join('')}[${position}]` }),
    isRepeated: false,
    walk: (next) => (focus, variables) => {
      const found = values(focus, variables)[position];
      if (found !== undefined) next(found, variables);
    },
  };
  return { branches: [{ steps: [step], type: branch.type }] };
}

/**
 * The branches whose values have a type.
 * @param isByTable whether the types in R4's lists of elements decide; otherwise `resourceType` in the data does, where
 *   any resource is allowed
 * @throws NotCompiled if only the data can decide
 */
export function narrowedTo(
  { branches }: Compiled,
  { name, isSystem: isSystemName }: TypeName,
  isByTable: boolean,
): Compiled {
  if (isSystemName || branches.some(({ type }) => isSystem(type) || type === MIXED))
    throw new NotCompiled('System types are left to the library');
  return {
    branches: branches.flatMap((branch) => {
      const { type } = branch;
      if (type === undefined)
        throw new ExpressionError(
          `"as ${name}" needs a type of R4 before it; name the JSON member instead, such as "value${name}"`,
        );
      if (isSubtype(type, name)) return [branch];
      if (isByTable || !isSubtype(name, type)) return [];
      if (!isSubtype(name, 'Resource')) throw new NotCompiled(`${type} is not narrowed to ${name}`);
      const values = evaluatorOf({ branches: [branch] });
      return [
        computedBranch(name, (focus, variables) =>
          values(focus, variables).filter((value) => isObject(value) && value.resourceType === name),
        ),
      ];
    }),
  };
}

/** A search parameter that selects an extension means its value. */
export function valueOfExtension(branch: Branch): Branch {
  if (branch.type !== 'Extension') return branch;
  const step: Step = {
    text: 'value[x]',
    jsonPath: '.keyvalue() ? (@.key starts with "value").value',
    isRepeated: false,
    walk: (next) => (extension, variables) => {
      if (!isObject(extension)) return;
      for (const key of Object.keys(extension)) if (key.startsWith('value')) visitEach(extension[key], next, variables);
    },
  };
  return { steps: [...branch.steps, step], type: undefined };
}

/**
 * Compiles a member of the focus, the most frequent path. To test its existence takes one lookup; without this,
 * invariants cost nearly twice as much.
 */
export function focusMember(type: string, compiled: Compiled, name: string, elements: NamedElements): Compiled {
  const element = elements(type)?.get(name);
  const keys = (element?.types ?? []).flatMap((of) => {
    const key = element === undefined ? name : memberKey(element, of);
    return isPrimitiveType(of) ? [key, `_${key}`] : [key];
  });
  const [only] = keys;
  if (keys.length === 1 && only !== undefined)
    return { ...compiled, exists: (focus) => isObject(focus) && focus[only] !== undefined };
  return { ...compiled, exists: (focus) => isObject(focus) && keys.some((key) => focus[key] !== undefined) };
}
