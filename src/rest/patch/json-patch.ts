import { isSame, type JsonObject, type JsonValue } from '../../platform/json/lossless';
import { isSameNumber } from '../../platform/json/same-number';
import { type Steps } from '../../platform/time/steps';
import { indexOf, parsePointer } from './json-pointer';
import { PatchEffort } from './patch-effort';
import { type TreePatch, malformed, excerpt, unfit } from './tree-patch';

type Pointer = readonly string[];

type Operation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: Pointer; readonly value: JsonValue }
  | { readonly op: 'remove'; readonly path: Pointer }
  | { readonly op: 'move' | 'copy'; readonly path: Pointer; readonly from: Pointer };

/** Operations that are compiled between two pauses. */
const OPERATIONS_AT_ONCE = 256;

/**
 * Compiles a JSON Patch (RFC 6902). Either all its operations apply, or none. Members that RFC 6902 does not define are
 * ignored.
 * @throws ServiceError 'invalid' for a malformed JSON Patch; the patch itself throws 'unprocessable' if it does not
 *   apply
 */
export function* compileJsonPatch(patch: JsonValue): Steps<TreePatch> {
  if (!Array.isArray(patch)) throw malformed('A JSON Patch is an array of operations (RFC 6902).');
  const operations: Operation[] = [];
  for (const operation of patch) {
    operations.push(operationOf(operation, operations.length));
    if (operations.length % OPERATIONS_AT_ONCE === 0) yield;
  }
  return function* (tree): Steps<JsonValue> {
    const document = new PatchedDocument(tree);
    for (const operation of operations) {
      document.apply(operation);
      yield;
    }
    return document.root;
  };
}

function operationOf(operation: JsonValue, index: number): Operation {
  const place = `Operation ${index} of the patch`;
  if (!(operation instanceof Map)) throw malformed(`${place} is no object.`);
  const pointer = (name: 'path' | 'from'): Pointer => {
    const text = operation.get(name);
    if (typeof text !== 'string') throw malformed(`${place} needs "${name}", a JSON Pointer.`);
    return parsePointer(text);
  };
  const op = operation.get('op');
  switch (op) {
    case 'add':
    case 'replace':
    case 'test': {
      const value = operation.get('value');
      if (value === undefined) throw malformed(`${place} needs "value".`);
      return { op, path: pointer('path'), value };
    }
    case 'remove':
      return { op, path: pointer('path') };
    case 'move':
    case 'copy':
      return { op, path: pointer('path'), from: pointer('from') };
    default:
      throw malformed(`${place} needs "op": add, remove, replace, move, copy or test.`);
  }
}

class PatchedDocument {
  private readonly effort = new PatchEffort();

  constructor(public root: JsonValue) {}

  apply(operation: Operation): void {
    const { path } = operation;
    this.effort.spend(16);
    switch (operation.op) {
      case 'add':
        this.add(path, operation.value);
        return;
      case 'remove':
        this.remove(path);
        return;
      case 'replace':
        this.replace(path, operation.value);
        return;
      case 'test':
        if (!isSameValue(this.find(path), operation.value)) throw unfit(`The test of "${printed(path)}" failed.`);
        return;
      case 'copy':
        this.add(path, this.find(operation.from));
        return;
      case 'move':
        this.move(operation.from, path);
        return;
    }
  }

  private find(pointer: Pointer): JsonValue {
    let value = this.root;
    for (const step of pointer) {
      const member = memberAt(value, step);
      if (member === undefined) throw nothingAt(pointer);
      value = member;
    }
    return value;
  }

  private add(pointer: Pointer, value: JsonValue): void {
    this.put(pointer, value, (list, step, copy) => {
      const index = step === '-' ? list.length : indexOf(step);
      if (index === undefined || index > list.length) throw nothingAt(pointer);
      this.effort.spend(list.length - index);
      list.splice(index, 0, copy);
    });
  }

  private remove(pointer: Pointer): void {
    this.find(pointer);
    const step = pointer.at(-1);
    if (step === undefined) throw unfit('A patch cannot remove the whole resource; use DELETE.');
    const parent = this.parentOf(pointer);
    if (parent instanceof Map) {
      parent.delete(step);
      return;
    }
    this.effort.spend(parent.length - Number(step));
    parent.splice(Number(step), 1);
  }

  /** Replaces a value. The member keeps its position, which it would lose by a removal and an addition. */
  private replace(pointer: Pointer, value: JsonValue): void {
    this.find(pointer);
    this.put(pointer, value, (list, step, copy) => {
      list[Number(step)] = copy;
    });
  }

  private put(
    pointer: Pointer,
    value: JsonValue,
    intoList: (list: JsonValue[], step: string, copy: JsonValue) => void,
  ): void {
    const copy = this.effort.copy(value, pointer.length);
    const step = pointer.at(-1);
    if (step === undefined) {
      this.root = copy;
      return;
    }
    const parent = this.parentOf(pointer);
    if (parent instanceof Map) parent.set(step, copy);
    else intoList(parent, step, copy);
  }

  private move(from: Pointer, to: Pointer): void {
    const value = this.find(from);
    const isWithin = from.every((step, index) => step === to[index]);
    if (isWithin && from.length < to.length) throw unfit(`"${printed(from)}" cannot be moved into itself.`);
    if (isWithin && from.length === to.length) return;
    this.remove(from);
    this.add(to, value);
  }

  private parentOf(pointer: Pointer): JsonObject | JsonValue[] {
    const parent = this.find(pointer.slice(0, -1));
    if (parent instanceof Map || Array.isArray(parent)) return parent;
    throw nothingAt(pointer);
  }
}

function memberAt(value: JsonValue, step: string): JsonValue | undefined {
  if (value instanceof Map) return value.get(step);
  if (!Array.isArray(value)) return undefined;
  const index = indexOf(step);
  return index === undefined ? undefined : value[index];
}

const printed = (pointer: Pointer): string =>
  excerpt(pointer.map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`).join(''));

const nothingAt = (pointer: Pointer): Error =>
  unfit(`There is nothing at "${printed(pointer)}" that the patch could change.`);

/**
 * Whether two values are equal by RFC 6902, section 4.6: members in any order, numbers by their value (`1.10` is `1.1`
 * is `11e-1`).
 */
const isSameValue = (a: JsonValue, b: JsonValue): boolean =>
  isSame(a, b, (one, other) => isSameNumber(one.text, other.text));
