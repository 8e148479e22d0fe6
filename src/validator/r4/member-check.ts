import { type ElementCheck } from './binding-check';
import { isObject, type PlainObject } from '../../platform/json/plain-object';
import { PRIMITIVES, type PrimitiveCheck } from './primitive-check';
import { type Rest, then, type ValidationRun } from './validation-run';
import { fragmentsOf } from './xhtml';

/** Checks one member of the JSON object `owner`. */
export type MemberCheck = (value: unknown, owner: PlainObject, run: ValidationRun) => Rest;

/** A JSON member that a type may have. */
export interface KnownMember {
  readonly check: MemberCheck;
  /**
   * Set for a member of a choice: the name of the choice, and the member's key without `_`. Only one key of a choice
   * such as `value[x]` may be present.
   */
  readonly choice?: { readonly name: string; readonly key: string };
}

/** An element for its checks: its name in paths, and the check of each value. */
export interface ElementShape {
  readonly name: string;
  readonly isRepeated: boolean;
  readonly item: ElementCheck;
}

/** Checks one item of a repeated element. */
type ListItemCheck = (item: unknown, index: number, owner: PlainObject, run: ValidationRun) => Rest;

/** The check of a member whose values are objects. */
export function complexMember({ name, isRepeated, item }: ElementShape): MemberCheck {
  if (!isRepeated) return singleMember(name, item);
  return listMember(name, (one, _index, _owner, run) => {
    if (one !== null) return item(one, run);
    run.report('structure', 'null is not allowed here. Leave the element out of the array.');
    return undefined;
  });
}

/** The check of a member whose values are primitives. Its sibling `_member` may hold their extensions. */
export function primitiveMember(key: string, { name, isRepeated, item }: ElementShape): MemberCheck {
  if (!isRepeated) return singleMember(name, item);
  const sibling = `_${key}`;
  return listMember(name, (one, index, owner, run) => {
    if (one !== null) return item(one, run);
    if (!isObject(itemAt(owner[sibling], index)))
      run.report('structure', `null is allowed only where "${sibling}" has an extension at the same place.`);
    return undefined;
  });
}

/** The check of `_member`. It holds an Element with id and extensions for each value of `member`. */
export function siblingMember(key: string, { name, isRepeated, item }: ElementShape): MemberCheck {
  if (!isRepeated) {
    return singleMember(name, (value, run, owner) =>
      then(item(value, run), () => {
        if (owner[key] === undefined) checkContent(value, run);
      }),
    );
  }
  return listMember(
    name,
    (one, index, owner, run) => {
      const hasValue = (itemAt(owner[key], index) ?? null) !== null;
      if (one === null) {
        if (!hasValue) run.report('structure', `"${key}" has no value at this place either.`);
        return undefined;
      }
      return then(item(one, run), () => {
        if (!hasValue) checkContent(one, run);
      });
    },
    (value, owner, run) => {
      const values = owner[key];
      if (Array.isArray(values) && Array.isArray(value) && values.length !== value.length)
        run.report('structure', `"${key}" and "_${key}" must be arrays of the same length; fill up with null.`);
    },
  );
}

function singleMember(
  name: string,
  item: (value: unknown, run: ValidationRun, owner: PlainObject) => Rest,
): MemberCheck {
  return (value, owner, run) => {
    run.enter(name);
    return then(isSingle(value, run) ? item(value, run, owner) : undefined, run.leave);
  };
}

/**
 * The check of a member with a list.
 * @param checkList reports faults of the whole list
 */
function listMember(
  name: string,
  check: ListItemCheck,
  checkList?: (value: unknown, owner: PlainObject, run: ValidationRun) => void,
): MemberCheck {
  return (value, owner, run) => {
    run.enter(name);
    const items = arrayItemsOf(value, run);
    checkList?.(value, owner, run);
    const checked = run.each(items, (item, index) => {
      run.enter(index);
      return then(check(item, index, owner, run), run.leave);
    });
    return then(checked, run.leave);
  };
}

/** Checks invariant ele-1 for a primitive without a value: an id alone is no content. */
function checkContent(element: unknown, run: ValidationRun): void {
  if (!isObject(element) || element.id === undefined || Object.keys(element).length > 1) return;
  run.report(
    'invariant',
    'ele-1: an element must have a value or children. Add the value or an extension, or leave the element out.',
  );
}

/** The check of a primitive's JSON value. */
export function primitiveItem(type: string): ElementCheck {
  const check: PrimitiveCheck | undefined = PRIMITIVES[type];
  if (check === undefined) throw new Error(`primitive type "${type}" has no check`);
  const { json, is, description } = check;
  const isLink = type === 'uri' || type === 'url' || type === 'canonical';
  return (value, run) => {
    if (typeof value !== json) {
      const expected = json === 'string' ? 'a string' : description;
      run.report('structure', `It must be ${expected}, not ${jsonKindOf(value)}.${quotesHint(json, value)}`);
      return undefined;
    }
    if (!is(value as string | number | boolean)) run.report('value', `It must be ${description}.`);
    else if (isLink && String(value).startsWith('#')) run.noteFragment(String(value));
    else if (type === 'xhtml' && run.hasContained)
      for (const id of fragmentsOf(String(value))) run.noteFragment(`#${id}`);
    return undefined;
  };
}

function quotesHint(json: PrimitiveCheck['json'], value: unknown): string {
  if (json === 'string') return typeof value === 'object' ? '' : ' Put it in quotes.';
  return json === 'number' && typeof value === 'string' ? ' Leave the quotes out.' : '';
}

export function jsonKindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function isSingle(value: unknown, run: ValidationRun): boolean {
  if (value === null) run.report('structure', 'null is not allowed. Leave the element out.');
  else if (Array.isArray(value))
    run.report('structure', 'It must be one value, not an array: the element does not repeat.');
  else return true;
  return false;
}

function arrayItemsOf(value: unknown, run: ValidationRun): readonly unknown[] {
  if (!Array.isArray(value)) {
    run.report(
      'structure',
      `It must be an array, not ${jsonKindOf(value)}: the element repeats. Put the value in [ ].`,
    );
    return [];
  }
  if (value.length === 0) run.report('structure', 'The array is empty. Leave the element out.');
  return value;
}

const itemAt = (list: unknown, index: number): unknown => (Array.isArray(list) ? list[index] : undefined);
