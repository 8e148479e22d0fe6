import { isSame, type JsonObject, type JsonValue } from '../../platform/json/lossless';
import { isSameNumber } from '../../platform/json/same-number';
import { type Steps } from '../../platform/time/steps';
import { PatchEffort } from './patch-effort';
import { type TreePatch, malformed, excerpt, unfit } from './tree-patch';

/** A JSON Pointer (RFC 6901) as its unescaped steps. The pointer to the whole document has no steps. */
type Pointer = readonly string[];

type Operation = (document: PatchedDocument) => void;

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
    operations.push(compiledOperation(operation, operations.length));
    if (operations.length % OPERATIONS_AT_ONCE === 0) yield;
  }
  return function* (tree): Steps<JsonValue> {
    const document = new PatchedDocument(tree);
    for (const apply of operations) {
      apply(document);
      yield;
    }
    return document.root;
  };
}

function compiledOperation(operation: JsonValue, index: number): Operation {
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
      const path = pointer('path');
      return (document) => {
        document[op](path, value);
      };
    }
    case 'remove': {
      const path = pointer('path');
      return (document) => {
        document.remove(path);
      };
    }
    case 'move':
    case 'copy': {
      const [path, from] = [pointer('path'), pointer('from')];
      return (document) => {
        document[op](from, path);
      };
    }
    default:
      throw malformed(`${place} needs "op": add, remove, replace, move, copy or test.`);
  }
}

class PatchedDocument {
  private readonly effort = new PatchEffort();

  constructor(public root: JsonValue) {}

  add(pointer: Pointer, value: JsonValue): void {
    this.put(pointer, value, (list, step, copy) => {
      const index = step === '-' ? list.length : indexOf(step);
      if (index === undefined || index > list.length) throw nothingAt(pointer);
      list.splice(index, 0, copy);
    });
  }

  remove(pointer: Pointer): void {
    this.find(pointer);
    const step = pointer.at(-1);
    if (step === undefined) throw unfit('A patch cannot remove the whole resource; use DELETE.');
    const parent = this.parentOf(pointer);
    if (parent instanceof Map) {
      parent.delete(step);
      return;
    }
    parent.splice(Number(step), 1);
  }

  /** Replaces a value. The member keeps its position, which it would lose by a removal and an addition. */
  replace(pointer: Pointer, value: JsonValue): void {
    this.find(pointer);
    this.put(pointer, value, (list, step, copy) => {
      list[Number(step)] = copy;
    });
  }

  test(pointer: Pointer, value: JsonValue): void {
    if (!isSameValue(this.find(pointer), value)) throw unfit(`The test of "${printed(pointer)}" failed.`);
  }

  copy(from: Pointer, to: Pointer): void {
    this.add(to, this.find(from));
  }

  move(from: Pointer, to: Pointer): void {
    const value = this.find(from);
    const isWithin = from.every((step, index) => step === to[index]);
    if (isWithin && from.length < to.length) throw unfit(`"${printed(from)}" cannot be moved into itself.`);
    if (isWithin && from.length === to.length) return;
    this.remove(from);
    this.add(to, value);
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

  private find(pointer: Pointer): JsonValue {
    let value = this.root;
    for (const step of pointer) {
      const member = memberAt(value, step);
      if (member === undefined) throw nothingAt(pointer);
      value = member;
    }
    return value;
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

/** @throws ServiceError 'invalid' for a text that is no JSON Pointer */
function parsePointer(text: string): Pointer {
  if (text === '') return [];
  if (!text.startsWith('/') || /~(?![01])/.test(text))
    throw malformed(`"${excerpt(text)}" is no JSON Pointer: it begins with "/", with "~" written as ~0 and "/" as ~1.`);
  return text
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Reads an array index by RFC 6901, section 4: digits without leading zeros. Undefined for other texts. */
const indexOf = (step: string): number | undefined => (/^(0|[1-9]\d{0,9})$/.test(step) ? Number(step) : undefined);

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
