import { elementsOf, isPrimitiveType, memberKey } from '../../definitions';
import { type Branch, type Compiled, isObject, ValueLess, valuesOf, type Values } from './compiled';
import { ExpressionError } from '../../fhirpath/expression';

/** A name that none of the types before it has, and that no other resource in its place could have. */
export class UnknownElement extends ExpressionError {
  constructor(
    readonly types: readonly string[],
    readonly element: string,
  ) {
    super(`${types.join(', ')} has no element "${element}"`);
  }
}

/** `of.name`: the members that an element has in JSON, one branch for each of its types. */
export function member(of: Compiled, name: string): Compiled {
  const branches = of.branches.flatMap((branch) => memberOf(branch, name));
  if (branches.length === 0) {
    throw unknownElement(
      of.branches.map(({ type }) => type),
      name,
    );
  }
  return { branches };
}

function unknownElement(types: readonly (string | undefined)[], name: string): ExpressionError {
  const known = types.filter((type): type is string => type !== undefined && elementsOf(type) !== undefined);
  // Where any resource may stand, a name of one of them is no mistake.
  const isCertain =
    known.length === types.length && known.length > 0 && !known.some((type) => OPEN_TYPES.includes(type));
  return isCertain
    ? new UnknownElement(known, name)
    : new ExpressionError(`${types.join(', ')} has no element "${name}"`);
}

const OPEN_TYPES = ['Resource', 'DomainResource', 'Element', 'BackboneElement'];

/** A member of the focus itself, the most frequent path: whether it exists is one look-up. */
export function focusMember(type: string, name: string): Compiled {
  const { branches } = member({ branches: [{ type, values: (focus) => [focus] }] }, name);
  const keys = keysOf(type, name).flatMap(({ key, isPrimitive }) => (isPrimitive ? [key, `_${key}`] : [key]));
  const [only] = keys;
  if (keys.length === 1 && only !== undefined) {
    return { branches, exists: (focus) => isObject(focus) && focus[only] !== undefined };
  }
  return { branches, exists: (focus) => isObject(focus) && keys.some((key) => focus[key] !== undefined) };
}

interface MemberKey {
  readonly key: string;
  readonly type: string;
  readonly isPrimitive: boolean;
}

function keysOf(type: string, name: string): readonly MemberKey[] {
  const element = elementsOf(type)?.get(name);
  if (element === undefined) return [];
  return element.types.map((of) => ({
    key: memberKey(element, of),
    type: of,
    isPrimitive: isPrimitiveType(of),
  }));
}

function memberOf(branch: Branch, name: string): readonly Branch[] {
  if (branch.type === undefined) return [];
  return keysOf(branch.type, name).map((key) => ({ type: key.type, values: step(branch.values, key) }));
}

function step(from: Values, { key, isPrimitive }: MemberKey): Values {
  const sibling = `_${key}`;
  return (focus, variables) => {
    const found: unknown[] = [];
    for (const owner of from(focus, variables)) {
      if (!isObject(owner)) continue;
      const value = owner[key];
      if (Array.isArray(value)) {
        const items: readonly unknown[] = value;
        items.forEach((item, index) => {
          if (item !== null) found.push(item);
          else if (isPrimitive) found.push(valueLessAt(owner[sibling], index));
        });
      } else if (value !== undefined && value !== null) found.push(value);
      else if (isPrimitive && owner[sibling] !== undefined) found.push(...valueLess(owner[sibling]));
    }
    return found;
  };
}

function valueLessAt(siblings: unknown, index: number): ValueLess {
  return new ValueLess(Array.isArray(siblings) ? siblings[index] : undefined);
}

function valueLess(sibling: unknown): readonly ValueLess[] {
  return (Array.isArray(sibling) ? sibling : [sibling]).map((element: unknown) => new ValueLess(element));
}

/** `union`, `combine`: several expressions as one. */
export function joined(parts: readonly Compiled[]): Compiled {
  return { branches: parts.flatMap(({ branches }) => branches) };
}

export function withoutDoubles(compiled: Compiled): Compiled {
  const values = valuesOf(compiled);
  return {
    branches: [{ type: sharedType(compiled), values: (focus, variables) => [...distinct(values(focus, variables))] }],
  };
}

/** Values that differ; objects are told apart by their text. */
export function distinct(values: readonly unknown[]): readonly unknown[] {
  const seen = new Set<unknown>();
  return values.filter((value) => {
    const key = typeof value === 'object' ? JSON.stringify(value) : value;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

function sharedType({ branches }: Compiled): string | undefined {
  const [first] = branches;
  return branches.every(({ type }) => type === first?.type) ? first?.type : undefined;
}
